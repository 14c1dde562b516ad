import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { manifest } from './manifest.ts';
import { AGENT_PRIORITY, HIGH_PRIORITY } from './names.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

const VALUE = 1_000_000;

/** The operator must also run in a full cluster, or nodes stay on old releases. It is less critical than the system's own pods. */
export class PriorityClasses extends Construct {
  /** Controller and apiserver are scheduled first, but preempt no running pod. */
  readonly high: ApiObject;
  /** An agent may preempt pods of lower priority: it is small, and it can run on its own node only. */
  readonly agent: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.high = addObject(
      this,
      'High',
      manifest('PriorityClass', {
        metadata: globalMeta(settings, { name: HIGH_PRIORITY, component: 'controller' }),
        description: 'Controller and apiserver of the Bottlerocket update operator.',
        value: VALUE,
        preemptionPolicy: 'Never',
      }),
    );
    this.agent = addObject(
      this,
      'Agent',
      manifest('PriorityClass', {
        metadata: globalMeta(settings, { name: AGENT_PRIORITY, component: 'agent' }),
        description: 'Agents of the Bottlerocket update operator, one on each managed node.',
        value: VALUE,
        preemptionPolicy: 'PreemptLowerPriority',
      }),
    );
  }
}
