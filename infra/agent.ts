import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { agentEnv } from '../runtime/agent/config.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE, TOKEN_AUDIENCE } from '../runtime/shadow/names.ts';
import { Access } from './access.ts';
import { caSecret } from './certificates.ts';
import { environment, IN_CLUSTER, loggingEnv, podField } from './environment.ts';
import { selectorLabels } from './labels.ts';
import { DAEMON_SET } from './names.ts';
import { addObject, namespacedMeta } from './objects.ts';
import { podTemplate } from './pods.ts';
import type { Settings } from './props/brupop.ts';
import { requiredNodes, scheduling } from './scheduling.ts';

/** The host's group that may speak to its API. */
const API_SOCKET_GROUP = 274;

const TOKEN_PATH = agentEnv.AGENT_TOKEN_PATH.default;
const TLS_DIR = agentEnv.TLS_DIR.default;
const TOKEN_DIR = TOKEN_PATH.slice(0, TOKEN_PATH.lastIndexOf('/'));
const TOKEN_FILE = TOKEN_PATH.slice(TOKEN_DIR.length + 1);
const TOKEN_LIFETIME_S = 3600;

const SOCKET_VOLUME = 'bottlerocket-api-socket';
const TOKEN_VOLUME = 'bottlerocket-agent-service-account-token';
const TLS_VOLUME = 'bottlerocket-tls-keys';

/** One agent on each managed node. */
export class Agent extends Construct {
  readonly access: Access;
  readonly daemonSet: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.access = new Access(this, 'Access', { settings, component: 'agent' });
    this.daemonSet = addObject(
      this,
      'DaemonSet',
      k8s.KubeDaemonSet.manifest({
        metadata: namespacedMeta(settings, { name: DAEMON_SET, component: 'agent' }),
        spec: {
          selector: { matchLabels: selectorLabels('agent') },
          updateStrategy: {
            type: 'RollingUpdate',
            rollingUpdate: {
              maxUnavailable: k8s.IntOrString.fromString('10%'),
              maxSurge: k8s.IntOrString.fromNumber(0),
            },
          },
          template: agentPod(settings),
        },
      }),
    );
  }
}

function agentPod(settings: Settings): k8s.PodTemplateSpec {
  const { agent } = settings;
  return podTemplate(settings, {
    component: 'agent',
    env: agentEnvironment(settings),
    httpPort: agent.httpPort,
    // One process on every node of a fleet: its probes are its largest steady cost.
    probePeriod: 30,
    security: { seLinuxOptions: { user: 'system_u', role: 'system_r', type: agent.seLinuxType, level: 's0' } },
    podSecurity: { supplementalGroups: [API_SOCKET_GROUP] },
    volumeMounts: [
      { name: SOCKET_VOLUME, mountPath: agent.apiSocket },
      { name: TOKEN_VOLUME, mountPath: TOKEN_DIR, readOnly: true },
      { name: TLS_VOLUME, mountPath: TLS_DIR, readOnly: true },
    ],
    spec: {
      ...scheduling(settings, {
        component: 'agent',
        nodeAffinity: requiredNodes([{ key: MANAGED_LABEL, operator: 'In', values: [MANAGED_LABEL_VALUE] }]),
      }),
      ...(agent.tolerations.length > 0 && { tolerations: agent.tolerations as k8s.Toleration[] }),
      // The address of the apiserver's Service, for when the cluster DNS does not answer.
      enableServiceLinks: true,
      volumes: agentVolumes(settings),
    },
  });
}

function agentEnvironment(settings: Settings): k8s.EnvVar[] {
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
    BOTTLEROCKET_API_SOCKET: agent.apiSocket,
    BOOT_ID_PATH: undefined,
    TLS_DIR,
    PRESENT_CLIENT_CERTIFICATE: apiserver.requireClientCertificate,
    AGENT_TOKEN_PATH: TOKEN_PATH,
    HTTP_PORT: agent.httpPort,
  });
}

function agentVolumes({ agent, apiserver, certificates }: Settings): k8s.Volume[] {
  // The key is put on the nodes only where that is asked for.
  const files = apiserver.requireClientCertificate ? ['ca.crt', 'tls.crt', 'tls.key'] : ['ca.crt'];
  return [
    // The file, not its folder: /run holds the container runtime's socket too.
    { name: SOCKET_VOLUME, hostPath: { path: agent.apiSocket, type: 'Socket' } },
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
