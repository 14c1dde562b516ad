import { type ApiObject, Yaml } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import * as z from 'zod';
import { COMPONENT_LABEL, COMPONENTS } from '../../runtime/api/shadow/names.ts';
import type { Brupop } from '../brupop.ts';
import { selectorLabels } from '../labels.ts';
import { intOrString, manifest, quantity } from '../manifest.ts';
import { tcp } from '../network-policies.ts';
import { addObject, namespacedMeta } from '../objects.ts';
import {
  HTTP_PORT_NAME,
  httpProbe,
  pullSecrets,
  resourceRequirements,
  RESTRICTED_CONTAINER,
  RESTRICTED_POD,
} from '../pods.ts';
import type { Settings } from '../props/brupop.ts';
import { retentionTime, scrapeInterval, someText } from '../props/fields.ts';
import { type Resources, resourceProps } from '../props/resources.ts';
import { checkProps } from '../props/settings.ts';
import { ServiceAccount } from '../service-account.ts';
import { alertGroups } from './alerts.ts';
import { watchedOperator } from './operator.ts';

export interface PrometheusSampleProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** @default docker.io/prom/prometheus:v3.5.0 */
  readonly image?: string;
  /** Time between two scrapes, and between two looks at the alerts. @default 30s */
  readonly interval?: string;
  /** How long samples are kept, e.g. `15d`; they are lost with the pod. @default 24h */
  readonly retention?: string;
  /** Requests and limits of its container. @default 512Mi at most */
  readonly resources?: Resources;
}

const RESOURCES = { requests: { cpu: '50m', memory: '256Mi' }, limits: { memory: '512Mi' } };

/** A tag `latest`, stated or by default, does not tell what runs. */
const pinnedImage = someText.regex(
  /^\S+(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/,
  'expected an image with a tag other than "latest", or with a digest',
);

const sampleProps = z.strictObject({
  brupop: watchedOperator,
  image: pinnedImage.default('docker.io/prom/prometheus:v3.5.0'),
  interval: scrapeInterval.default('30s'),
  retention: retentionTime.default('24h'),
  resources: resourceProps(RESOURCES),
} satisfies Record<keyof PrometheusSampleProps, z.ZodType>);

type SampleSettings = z.output<typeof sampleProps>;

const NAME = 'brupop-prometheus';
const PORT = 9090;
/** Agents have no metrics. */
const SCRAPED = ['apiserver', 'controller'] as const;
const SELECTOR = { 'app.kubernetes.io/name': NAME };
const CONFIG_FILE = 'prometheus.yml';
/** Beside the configuration. */
const ALERTS_FILE = 'alerts.yml';
const CONFIG_DIR = '/etc/prometheus';
const DATA_DIR = '/prometheus';
const RBAC = 'rbac.authorization.k8s.io';

/**
 * A small Prometheus that scrapes controller and apiservers and evaluates the alerts. It is for looking at them: it keeps little and
 * notifies nobody.
 */
export class PrometheusSample extends Construct {
  readonly serviceAccount: ServiceAccount;
  readonly role: ApiObject;
  readonly roleBinding: ApiObject;
  readonly config: ApiObject;
  readonly deployment: ApiObject;
  readonly service: ApiObject;
  /** None where everybody may read metrics. */
  readonly networkPolicies: readonly ApiObject[];
  readonly #metadata: k8s.ObjectMeta;

  /** @throws InvalidPropsError */
  constructor(scope: Construct, id: string, props: PrometheusSampleProps) {
    const sample = checkProps(sampleProps, props);
    super(scope, id);
    const { settings } = sample.brupop;
    const shared = namespacedMeta(settings, { name: NAME });
    const metadata = { ...shared, labels: { ...shared.labels, ...SELECTOR } };
    this.#metadata = metadata;
    this.serviceAccount = new ServiceAccount(
      this,
      'ServiceAccount',
      manifest('ServiceAccount', { metadata, automountServiceAccountToken: false }),
    );
    [this.role, this.roleBinding] = this.#addAccess(settings);
    const data = {
      [CONFIG_FILE]: Yaml.stringify(scrapeConfig(sample)),
      [ALERTS_FILE]: Yaml.stringify({ groups: alertGroups(scope, settings) }),
    };
    this.config = addObject(this, 'Config', manifest('ConfigMap', { metadata, data }));
    this.deployment = this.#addDeployment(sample);
    this.service = addObject(
      this,
      'Service',
      manifest('Service', {
        metadata,
        spec: {
          type: 'ClusterIP',
          selector: SELECTOR,
          ports: [
            {
              name: HTTP_PORT_NAME,
              port: PORT,
              protocol: 'TCP',
              targetPort: intOrString(HTTP_PORT_NAME),
            },
          ],
        },
      }),
    );
    this.networkPolicies = this.#addNetworkPolicies(settings);
  }

  /** Admits the sample where the operator's policies admit one namespace only: policies add up. */
  #addNetworkPolicies(settings: Settings): ApiObject[] {
    const { enabled, metricsNamespace } = settings.networkPolicies;
    if (!enabled || metricsNamespace === undefined) return [];
    return SCRAPED.map((component) =>
      addObject(
        this,
        `NetworkPolicy-${component}`,
        manifest('NetworkPolicy', {
          metadata: { ...this.#metadata, name: `${NAME}-${component}` },
          spec: {
            podSelector: { matchLabels: selectorLabels(component) },
            policyTypes: ['Ingress'],
            ingress: [
              { from: [{ podSelector: { matchLabels: SELECTOR } }], ports: tcp([settings[component].httpPort]) },
            ],
          },
        }),
      ),
    );
  }

  /** The sample discovers the pods of one namespace and may do nothing else. */
  #addAccess({ namespace }: Settings): [role: ApiObject, binding: ApiObject] {
    const metadata = this.#metadata;
    const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] };
    return [
      addObject(this, 'Role', manifest('Role', { metadata, rules: [pods] })),
      addObject(
        this,
        'RoleBinding',
        manifest('RoleBinding', {
          metadata,
          roleRef: { apiGroup: RBAC, kind: 'Role', name: NAME },
          subjects: [{ kind: 'ServiceAccount', name: NAME, namespace }],
        }),
      ),
    ];
  }

  #addDeployment(sample: SampleSettings): ApiObject {
    const { labels, annotations } = this.#metadata;
    return addObject(
      this,
      'Deployment',
      manifest('Deployment', {
        metadata: this.#metadata,
        spec: {
          replicas: 1,
          selector: { matchLabels: SELECTOR },
          strategy: { type: 'Recreate' },
          template: {
            metadata: { ...(labels && { labels }), ...(annotations && { annotations }) },
            spec: {
              serviceAccountName: NAME,
              automountServiceAccountToken: true,
              enableServiceLinks: false,
              securityContext: RESTRICTED_POD,
              ...pullSecrets(sample.brupop.settings),
              containers: [prometheus(sample)],
              volumes: [
                { name: 'config', configMap: { name: NAME } },
                { name: 'data', emptyDir: { sizeLimit: quantity('1Gi') } },
              ],
            },
          },
        },
      }),
    );
  }
}

function prometheus({ image, retention, resources }: SampleSettings): k8s.Container {
  return {
    name: 'prometheus',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      `--config.file=${CONFIG_DIR}/${CONFIG_FILE}`,
      `--storage.tsdb.path=${DATA_DIR}`,
      `--storage.tsdb.retention.time=${retention}`,
    ],
    ports: [{ name: HTTP_PORT_NAME, containerPort: PORT, protocol: 'TCP' }],
    livenessProbe: httpProbe('/-/healthy', 10),
    readinessProbe: httpProbe('/-/ready', 10),
    resources: resourceRequirements(resources),
    securityContext: RESTRICTED_CONTAINER,
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIR, readOnly: true },
      { name: 'data', mountPath: DATA_DIR },
    ],
  };
}

/** Pods are the targets, not Services: behind a Service each scrape would reach another replica. */
function scrapeConfig({ brupop, interval }: SampleSettings): object {
  const componentMeta = `__meta_kubernetes_pod_label_${COMPONENT_LABEL.replaceAll(/\W/g, '_')}`;
  return {
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: [ALERTS_FILE],
    scrape_configs: [
      {
        job_name: 'brupop',
        kubernetes_sd_configs: [{ role: 'pod', namespaces: { names: [brupop.settings.namespace] } }],
        relabel_configs: [
          {
            source_labels: [componentMeta, '__meta_kubernetes_pod_container_port_name'],
            regex: `(${SCRAPED.map((component) => COMPONENTS[component]).join('|')});${HTTP_PORT_NAME}`,
            action: 'keep',
          },
          { source_labels: [componentMeta], target_label: 'component' },
          { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
          { source_labels: ['__meta_kubernetes_pod_node_name'], target_label: 'node' },
        ],
      },
    ],
  };
}
