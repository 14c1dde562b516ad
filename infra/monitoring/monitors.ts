import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import * as z from 'zod';
import { PodMonitor, ServiceMonitor } from '../../imports/monitoring.coreos.com.ts';
import { PUBLIC_PATHS } from '../../runtime/apiserver/config.ts';
import { selectorLabels } from '../labels.ts';
import type { Brupop } from '../brupop.ts';
import { CONTROLLER_PORT_NAME } from '../../runtime/api/shadow/names.ts';
import { addObject, namespacedMeta } from '../objects.ts';
import { HTTP_PORT_NAME } from '../pods.ts';
import { namespaceOrAny, scrapeInterval } from '../props/fields.ts';
import { checkProps } from '../props/settings.ts';
import { freeLabels } from '../props/workload.ts';
import { watchedOperator } from './operator.ts';

export interface MonitorsProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** Time between two scrapes. @default 30s */
  readonly interval?: string;
  /** Where the objects are to be. @default the operator's */
  readonly namespace?: string | undefined;
  /** Labels by which your Prometheus selects its monitors. @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

/** @internal */
export const monitorsProps = z.strictObject({
  brupop: watchedOperator,
  interval: scrapeInterval.default('30s'),
  namespace: namespaceOrAny.optional(),
  labels: freeLabels,
} satisfies Record<keyof MonitorsProps, z.ZodType>);

/** Has the Prometheus operator scrape controller and apiservers. Needs its CustomResourceDefinitions in the cluster. */
export class Monitors extends Construct {
  /** The controller, by its Service. */
  readonly serviceMonitor: ApiObject;
  /** Each apiserver, by its pod: the Service leads to the TLS port alone. */
  readonly podMonitor: ApiObject;

  /** @throws InvalidPropsError */
  constructor(scope: Construct, id: string, props: MonitorsProps) {
    const { brupop, interval, namespace, labels } = checkProps(monitorsProps, props);
    super(scope, id);
    const { settings } = brupop;
    const endpoint = { path: PUBLIC_PATHS.metrics, interval };
    // Monitors may live in another namespace, and would then select the pods of that one.
    const namespaceSelector = { matchNames: [settings.namespace] };
    const shared = { namespace, labels };
    this.serviceMonitor = addObject(
      this,
      'ServiceMonitor',
      ServiceMonitor.manifest({
        metadata: namespacedMeta(settings, { name: 'brupop-controller', component: 'controller', ...shared }),
        spec: {
          namespaceSelector,
          selector: { matchLabels: selectorLabels('controller') },
          endpoints: [{ ...endpoint, port: CONTROLLER_PORT_NAME }],
        },
      }),
    );
    this.podMonitor = addObject(
      this,
      'PodMonitor',
      PodMonitor.manifest({
        metadata: namespacedMeta(settings, { name: 'brupop-apiserver', component: 'apiserver', ...shared }),
        spec: {
          namespaceSelector,
          selector: { matchLabels: selectorLabels('apiserver') },
          podMetricsEndpoints: [{ ...endpoint, port: HTTP_PORT_NAME }],
        },
      }),
    );
  }
}
