import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { APISERVER_ALLOCATOR, apiserverEnv } from '../runtime/apiserver/config.ts';
import { APISERVER_SERVICE } from '../runtime/api/shadow/names.ts';
import { Access } from './access.ts';
import { serverSecret } from './certificates.ts';
import { environment, IN_CLUSTER, loggingEnv } from './environment.ts';
import { selectorLabels } from './labels.ts';
import { intOrString, manifest } from './manifest.ts';
import { APISERVER_DEPLOYMENT } from './names.ts';
import { addObject, namespacedMeta, workloadMeta } from './objects.ts';
import { podTemplate } from './pods.ts';
import type { Settings } from './props/brupop.ts';
import type { TopologySpreadConstraint } from './props/scheduling.ts';
import { NOT_UPDATING, scheduling, tolerations } from './scheduling.ts';
import { addService } from './service.ts';

const API_PORT_NAME = 'api';

const TLS_VOLUME = 'bottlerocket-tls-keys';
const TLS_DIR = apiserverEnv.TLS_DIR.default;

/** What acts on the cluster for the agents. */
export class Apiserver extends Construct {
  readonly access: Access;
  readonly authDelegatorBinding: ApiObject;
  readonly service: ApiObject;
  readonly deployment: ApiObject;
  readonly disruptionBudget: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.access = new Access(this, 'Access', { settings, component: 'apiserver' });
    this.authDelegatorBinding = this.access.delegateAuthentication();
    this.service = addService(this, 'Service', {
      settings,
      component: 'apiserver',
      name: APISERVER_SERVICE,
      port: { name: 'https', port: settings.apiserver.servicePort, target: API_PORT_NAME },
    });
    this.deployment = this.#addDeployment(settings);
    this.disruptionBudget = this.#addDisruptionBudget(settings);
  }

  #addDeployment(settings: Settings): ApiObject {
    return addObject(
      this,
      'Deployment',
      manifest('Deployment', {
        metadata: workloadMeta(settings, APISERVER_DEPLOYMENT, 'apiserver'),
        spec: {
          replicas: settings.apiserver.replicas,
          minReadySeconds: settings.apiserver.minReadySeconds,
          selector: { matchLabels: selectorLabels('apiserver') },
          strategy: {
            type: 'RollingUpdate',
            rollingUpdate: {
              maxUnavailable: intOrString('33%'),
              maxSurge: intOrString('33%'),
            },
          },
          template: apiserverPod(settings),
        },
      }),
    );
  }

  #addDisruptionBudget(settings: Settings): ApiObject {
    return addObject(
      this,
      'DisruptionBudget',
      manifest('PodDisruptionBudget', {
        metadata: namespacedMeta(settings, { name: APISERVER_DEPLOYMENT, component: 'apiserver' }),
        spec: {
          selector: { matchLabels: selectorLabels('apiserver') },
          // Rounded up: two of three. With one at a time, a replica that cannot start, as on a node that does not get the image, would keep
          // all others from leaving their nodes.
          maxUnavailable: intOrString('50%'),
          // A replica that is not healthy must not block the drain of its own node either.
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
        },
      }),
    );
  }
}

const BY_ZONE: readonly TopologySpreadConstraint[] = [
  { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
];

function apiserverPod(settings: Settings): k8s.PodTemplateSpec {
  const { apiserver, certificates } = settings;
  return podTemplate(settings, {
    component: 'apiserver',
    env: [...apiserverEnvironment(settings), ...environment(APISERVER_ALLOCATOR)],
    httpPort: apiserver.httpPort,
    ports: [{ name: API_PORT_NAME, containerPort: apiserver.internalPort, protocol: 'TCP' }],
    probePeriod: 5,
    volumeMounts: [{ name: TLS_VOLUME, mountPath: TLS_DIR, readOnly: true }],
    spec: {
      ...scheduling(settings, { component: 'apiserver', nodes: NOT_UPDATING, spread: BY_ZONE }),
      ...tolerations(settings, 'apiserver'),
      ...(apiserver.hostNetwork && { hostNetwork: true }),
      dnsPolicy: apiserver.dnsPolicy ?? (apiserver.hostNetwork ? 'ClusterFirstWithHostNet' : 'ClusterFirst'),
      volumes: [
        {
          name: TLS_VOLUME,
          secret: { secretName: serverSecret(certificates), optional: false, defaultMode: 0o440 },
        },
      ],
    },
  });
}

function apiserverEnvironment(settings: Settings): k8s.EnvVar[] {
  const { apiserver } = settings;
  return environment<typeof apiserverEnv>({
    ...IN_CLUSTER,
    KUBECONFIG: undefined,
    ...loggingEnv(settings, 'apiserver'),
    APISERVER_INTERNAL_PORT: apiserver.internalPort,
    HTTP_PORT: apiserver.httpPort,
    TLS_DIR,
    REQUIRE_CLIENT_CERTIFICATE: apiserver.requireClientCertificate,
    DRAIN_TIMEOUT_IN_SEC: apiserver.drainTimeoutInSec,
    DRAIN_PREFLIGHT: apiserver.drainPreflight,
    DRAIN_REFUSAL_TIMEOUT_IN_SEC: apiserver.drainRefusalTimeoutInSec,
    VOLUME_DETACH_TIMEOUT_IN_SEC: apiserver.volumeDetachTimeoutInSec,
    SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC: apiserver.skipWaitForDeleteTimeoutInSec,
    MAX_CONCURRENT_EVICTIONS: apiserver.maxConcurrentEvictions,
  });
}
