import type { k8s } from 'cdk8s-plus-28';
import { nodeCommand } from '../runtime/image/programs.ts';
import { PUBLIC_PATHS } from '../runtime/apiserver/config.ts';
import { TERMINATION_LOG } from './environment.ts';
import { type Component, componentLabels, type Labels } from './labels.ts';
import { intOrString, quantity } from './manifest.ts';
import { SERVICE_ACCOUNTS } from './names.ts';
import type { Settings } from './props/brupop.ts';
import { imageReference } from './props/image.ts';

type Resources = Settings[Component]['resources'];

/** Name of the port that probes and scrapes use, in every container. */
export const HTTP_PORT_NAME = 'http';

/** A user and group without a name in the image: no file of a node belongs to them. */
const NOBODY = 65532;

export interface PodParts {
  readonly component: Component;
  /** Labels of its own, above those of the component. @default none */
  readonly labels?: Labels;
  /** @default those of the props */
  readonly resources?: Resources;
  readonly env: k8s.EnvVar[];
  readonly httpPort: number;
  readonly ports?: k8s.ContainerPort[];
  /** Seconds between two probes. */
  readonly probePeriod: number;
  /** What the container adds to the restricted security context. */
  readonly security?: k8s.SecurityContext;
  readonly podSecurity?: k8s.PodSecurityContext;
  readonly volumeMounts?: k8s.VolumeMount[];
  /** Scheduling, volumes and the like. */
  readonly spec: Omit<k8s.PodSpec, 'containers'>;
}

/** The pod of one of the three processes: restricted, probed over HTTP, everything stated. */
export function podTemplate(settings: Settings, parts: PodParts): k8s.PodTemplateSpec {
  const { component, labels, podSecurity, spec } = parts;
  const { podLabels, podAnnotations, nodeSelector } = settings[component];
  const annotations = { ...settings.annotations, ...scrapeAnnotations(settings, component), ...podAnnotations };
  return {
    metadata: {
      labels: { ...settings.labels, ...podLabels, ...componentLabels(component, settings.instance), ...labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      serviceAccountName: SERVICE_ACCOUNTS[component],
      automountServiceAccountToken: true,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: { ...RESTRICTED_POD, ...podSecurity },
      ...pullSecrets(settings),
      ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
      ...spec,
      containers: [container(settings, parts)],
    },
  };
}

/** What the registry asks for. */
export function pullSecrets({ image }: Settings): Pick<k8s.PodSpec, 'imagePullSecrets'> {
  return image.pullSecrets.length > 0 ? { imagePullSecrets: image.pullSecrets.map((name) => ({ name })) } : {};
}

/** Where to read metrics, for a Prometheus that finds pods by their annotations. Agents have none to read. */
function scrapeAnnotations({ scrapePods, ...settings }: Settings, component: Component): Labels {
  if (!scrapePods || component === 'agent') return {};
  const { httpPort } = settings[component];
  return {
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': String(httpPort),
    'prometheus.io/path': PUBLIC_PATHS.metrics,
  };
}

/**
 * With `RESTRICTED_CONTAINER`, this is what the Pod Security profile "restricted" asks for, and a root file system that cannot be written.
 */
export const RESTRICTED_POD: k8s.PodSecurityContext = {
  runAsNonRoot: true,
  runAsUser: NOBODY,
  runAsGroup: NOBODY,
  // Secrets and tokens are readable for this group alone.
  fsGroup: NOBODY,
  seccompProfile: { type: 'RuntimeDefault' },
};

export const RESTRICTED_CONTAINER: k8s.SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

function container(settings: Settings, parts: PodParts): k8s.Container {
  const { component, env, httpPort, ports = [], probePeriod, security, volumeMounts } = parts;
  const { resources = settings[component].resources } = parts;
  return {
    name: 'brupop',
    image: imageReference(settings.image),
    imagePullPolicy: settings.image.pullPolicy,
    // Not the image's entry, which would start Node twice for each container of a fleet.
    command: [...nodeCommand(component)],
    env: [...env, ...Object.entries(settings[component].env).map(([key, value]) => ({ name: key, value }))],
    ports: [...ports, { name: HTTP_PORT_NAME, containerPort: httpPort, protocol: 'TCP' }],
    resources: resourceRequirements(resources),
    // A node that boots is slow, so the other probes begin after this one has passed once. The delay spares a warning at each start, when
    // nothing can listen yet.
    startupProbe: { ...httpProbe('/healthz', 2), initialDelaySeconds: 1, failureThreshold: 30 },
    livenessProbe: httpProbe('/healthz', probePeriod),
    readinessProbe: httpProbe('/readyz', probePeriod),
    terminationMessagePath: TERMINATION_LOG,
    terminationMessagePolicy: 'File',
    securityContext: { ...RESTRICTED_CONTAINER, ...security },
    ...(volumeMounts && { volumeMounts }),
  };
}

/** A probe of the container's HTTP port. */
export function httpProbe(path: string, periodSeconds: number): k8s.Probe {
  return {
    httpGet: { path, port: intOrString(HTTP_PORT_NAME), scheme: 'HTTP' },
    periodSeconds,
    timeoutSeconds: 5,
    failureThreshold: 3,
  };
}

/** As a container states them. */
export function resourceRequirements({ requests, limits }: Resources): k8s.ResourceRequirements {
  return { requests: quantities(requests), limits: quantities(limits) };
}

function quantities(list: Resources['requests']): Record<string, k8s.Quantity> {
  const stated = Object.entries(list).filter(([, amount]) => amount !== undefined);
  return Object.fromEntries(stated.map(([name, amount]) => [name, quantity(String(amount))]));
}
