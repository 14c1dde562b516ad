import type { ApiObjectProps } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { agentEnv } from '../runtime/agent/config.ts';
import { TOKEN_AUDIENCE } from '../runtime/api/shadow/names.ts';
import { caSecret } from './certificates.ts';
import { environment, IN_CLUSTER, loggingEnv, podField } from './environment.ts';
import { type Labels, selectorLabels } from './labels.ts';
import { intOrString, manifest } from './manifest.ts';
import { workloadMeta } from './objects.ts';
import { type PodParts, podTemplate } from './pods.ts';
import type { Settings } from './props/brupop.ts';
import { arriving, scheduling } from './scheduling.ts';

const TOKEN_PATH = agentEnv.AGENT_TOKEN_PATH.default;
const TLS_DIR = agentEnv.TLS_DIR.default;
const TOKEN_DIR = TOKEN_PATH.slice(0, TOKEN_PATH.lastIndexOf('/'));
const TOKEN_FILE = TOKEN_PATH.slice(TOKEN_DIR.length + 1);
const TOKEN_LIFETIME_S = 3600;

const TOKEN_VOLUME = 'bottlerocket-agent-service-account-token';
const TLS_VOLUME = 'bottlerocket-tls-keys';

/** The agents of hosts that one driver updates. */
export interface AgentParts {
  /** Of the DaemonSet. */
  readonly name: string;
  /** Labels of its pods alone, which also select them. */
  readonly labels: Labels;
  /** Selects their nodes. */
  readonly nodes: readonly k8s.NodeSelectorRequirement[];
  readonly pod: Pick<PodParts, 'env' | 'resources' | 'security' | 'podSecurity'>;
  /** The host's files that the driver needs. */
  readonly files: readonly HostFile[];
  /** Further fields of the pods. */
  readonly spec?: Omit<k8s.PodSpec, 'containers'>;
  readonly podAntiAffinity?: k8s.PodAntiAffinity;
}

/** For a driver that is root on its host. */
export const ROOT_ON_HOST = {
  security: { privileged: true, allowPrivilegeEscalation: true, capabilities: {} },
  podSecurity: { runAsNonRoot: false, runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'Unconfined' } },
} satisfies Partial<AgentParts['pod']>;

interface HostFile {
  readonly name: string;
  readonly mountPath: string;
  readonly hostPath: k8s.HostPathVolumeSource;
  /** @default false */
  readonly readOnly?: boolean;
}

/** The DaemonSet of one driver's agents. */
export function agentDaemonSet(settings: Settings, parts: AgentParts): ApiObjectProps {
  const { name, labels } = parts;
  return manifest('DaemonSet', {
    metadata: workloadMeta(settings, name, 'agent'),
    spec: {
      selector: { matchLabels: { ...selectorLabels('agent'), ...labels } },
      minReadySeconds: settings.agent.minReadySeconds,
      updateStrategy: updateStrategy(settings.agent.updateStrategy),
      template: agentPod(settings, parts),
    },
  });
}

function updateStrategy({ type, maxUnavailable }: Settings['agent']['updateStrategy']): k8s.DaemonSetUpdateStrategy {
  if (type === 'OnDelete') return { type };
  return {
    type,
    rollingUpdate: {
      maxUnavailable: intOrString(maxUnavailable),
      maxSurge: intOrString(0),
    },
  };
}

function agentPod(settings: Settings, parts: AgentParts): k8s.PodTemplateSpec {
  const { agent } = settings;
  const { affinity, ...scheduled } = scheduling(settings, {
    component: 'agent',
    nodes: { required: parts.nodes },
  });
  const { podAntiAffinity } = parts;
  return podTemplate(settings, {
    component: 'agent',
    labels: parts.labels,
    httpPort: agent.httpPort,
    // One process on every node of a fleet: its probes are its largest steady cost.
    probePeriod: 30,
    ...parts.pod,
    volumeMounts: [
      ...parts.files.map(mountOf),
      { name: TOKEN_VOLUME, mountPath: TOKEN_DIR, readOnly: true },
      { name: TLS_VOLUME, mountPath: TLS_DIR, readOnly: true },
    ],
    spec: {
      ...scheduled,
      affinity: { ...affinity, ...(podAntiAffinity && { podAntiAffinity }) },
      tolerations: [arriving(settings), ...(agent.tolerations as k8s.Toleration[])],
      // The address of the apiserver's Service, for when the cluster DNS does not answer.
      enableServiceLinks: true,
      volumes: [...parts.files.map(({ name, hostPath }) => ({ name, hostPath })), ...agentVolumes(settings)],
      ...parts.spec,
    },
  });
}

function mountOf({ name, mountPath, readOnly = false }: HostFile): k8s.VolumeMount {
  return { name, mountPath, ...(readOnly && { readOnly }) };
}

type Environment = Parameters<typeof environment<typeof agentEnv>>[0];
type DriverVariables = Pick<Environment, 'HOST_DRIVER' | 'BOTTLEROCKET_API_SOCKET' | 'HOST_ROOT' | 'HOST_INIT_PID'>;

/** The variables of an agent. @param driver those of its driver; what is left out has the right default */
export function agentEnvironment(settings: Settings, driver: Partial<DriverVariables>): k8s.EnvVar[] {
  const { agent, apiserver } = settings;
  return environment<typeof agentEnv>({
    ...IN_CLUSTER,
    ...loggingEnv(settings, 'agent'),
    MY_NODE_NAME: podField('spec.nodeName'),
    EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: agent.excludeFromLbWaitTimeInSec,
    UPDATE_CHECK_INTERVAL_IN_SEC: agent.updateCheckIntervalInSec,
    APISERVER_SERVICE_PORT: apiserver.servicePort,
    // Kubernetes sets it (enableServiceLinks) in pods that start when the Service is there.
    BRUPOP_APISERVER_SERVICE_HOST: undefined,
    APISERVER_ADDRESS: undefined,
    HOST_DRIVER: undefined,
    BOTTLEROCKET_API_SOCKET: undefined,
    HOST_ROOT: undefined,
    HOST_INIT_PID: undefined,
    ...driver,
    BOOT_ID_PATH: undefined,
    TLS_DIR,
    PRESENT_CLIENT_CERTIFICATE: apiserver.requireClientCertificate,
    AGENT_TOKEN_PATH: TOKEN_PATH,
    HTTP_PORT: agent.httpPort,
  });
}

function agentVolumes({ apiserver, certificates }: Settings): k8s.Volume[] {
  // The key is put on the nodes only where that is asked for.
  const files = apiserver.requireClientCertificate ? ['ca.crt', 'tls.crt', 'tls.key'] : ['ca.crt'];
  return [
    {
      name: TOKEN_VOLUME,
      projected: {
        defaultMode: 0o440,
        sources: [
          {
            serviceAccountToken: {
              audience: TOKEN_AUDIENCE,
              expirationSeconds: TOKEN_LIFETIME_S,
              path: TOKEN_FILE,
            },
          },
        ],
      },
    },
    {
      name: TLS_VOLUME,
      secret: {
        secretName: caSecret(certificates),
        optional: false,
        defaultMode: 0o440,
        items: files.map((name) => ({ key: name, path: name })),
      },
    },
  ];
}
