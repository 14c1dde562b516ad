import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { CONTROLLER_ALLOCATOR, type controllerEnv } from '../runtime/controller/config.ts';
import { CONTROLLER_DEPLOYMENT, CONTROLLER_PORT_NAME, CONTROLLER_SERVICE } from '../runtime/api/shadow/names.ts';
import { Access } from './access.ts';
import { environment, IN_CLUSTER, loggingEnv, podField } from './environment.ts';
import { selectorLabels } from './labels.ts';
import { manifest, quantity } from './manifest.ts';
import { NOTIFICATIONS_DIR, notificationVolume, notifies } from './notifications.ts';
import { addObject, workloadMeta } from './objects.ts';
import { HTTP_PORT_NAME, podTemplate } from './pods.ts';
import type { Settings } from './props/brupop.ts';
import { scheduleEnv } from './props/schedule.ts';
import { writesLifecycle } from './rules.ts';
import { NOT_UPDATING, scheduling, tolerations } from './scheduling.ts';
import { addService } from './service.ts';

/** What decides which node is updated when. */
export class Controller extends Construct {
  readonly access: Access;
  readonly service: ApiObject;
  readonly deployment: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.access = new Access(this, 'Access', { settings, component: 'controller' });
    this.service = addService(this, 'Service', {
      settings,
      component: 'controller',
      name: CONTROLLER_SERVICE,
      port: { name: CONTROLLER_PORT_NAME, port: 80, target: HTTP_PORT_NAME },
    });
    this.deployment = addObject(
      this,
      'Deployment',
      manifest('Deployment', {
        metadata: workloadMeta(settings, CONTROLLER_DEPLOYMENT, 'controller'),
        spec: {
          replicas: settings.controller.replicas,
          minReadySeconds: settings.controller.minReadySeconds,
          selector: { matchLabels: selectorLabels('controller') },
          strategy: { type: 'Recreate' },
          template: controllerPod(settings),
        },
      }),
    );
  }
}

/** For the reader of repositories: the root file system cannot be written. */
const REPOSITORIES_DIR = '/var/lib/brupop/repositories';
const REPOSITORIES = 'repositories';

function controllerPod(settings: Settings): k8s.PodTemplateSpec {
  const { controller } = settings;
  const notified = notificationVolume(settings);
  return podTemplate(settings, {
    component: 'controller',
    volumeMounts: [...(notified.volumeMounts ?? []), { name: REPOSITORIES, mountPath: REPOSITORIES_DIR }],
    env: [...controllerEnvironment(settings), ...environment(CONTROLLER_ALLOCATOR)],
    httpPort: controller.httpPort,
    probePeriod: 10,
    spec: {
      ...scheduling(settings, { component: 'controller', nodes: NOT_UPDATING }),
      ...tolerations(settings, 'controller'),
      volumes: [...(notified.volumes ?? []), { name: REPOSITORIES, emptyDir: { sizeLimit: quantity('32Mi') } }],
    },
  });
}

const settleEnv = ({ settleTimeInSec, settleFails }: Settings['controller']) => ({
  SETTLE_TIME_IN_SEC: settleTimeInSec,
  SETTLE_FAILS: settleFails,
});

/** Nodes as they join. */
const joiningEnv = ({ arrivingTaint, labelNodes }: Settings['controller']) => ({
  ARRIVING_TAINT: arrivingTaint,
  LABEL_NODES: labelNodes,
});

function controllerEnvironment(settings: Settings): k8s.EnvVar[] {
  const { controller, k3os } = settings;
  return environment<typeof controllerEnv>({
    ...IN_CLUSTER,
    KUBECONFIG: undefined,
    ...loggingEnv(settings, 'controller'),
    MY_NODE_NAME: podField('spec.nodeName'),
    MY_POD_NAME: podField('metadata.name'),
    MAX_CONCURRENT_UPDATE: controller.maxConcurrentUpdate,
    READ_AHEAD: controller.readAhead,
    MAX_FAILED_UPDATE: controller.maxFailedUpdate,
    MAX_UNHEALTHY: controller.maxUnhealthy,
    PROOF_NODES: controller.proofNodes,
    MIN_RELEASE_AGE_IN_SEC: controller.minReleaseAgeInSec,
    MAX_VERSION: controller.maxVersion,
    PROMETHEUS_URL: controller.prometheusUrl,
    ...scheduleEnv(controller.schedule),
    MONITORING_TIME_IN_SEC: controller.monitoringTimeInSec,
    ...settleEnv(controller),
    MONITORING_TIMEOUT_IN_SEC: controller.monitoringTimeoutInSec,
    AGENT_TIMEOUT_IN_SEC: controller.agentTimeoutInSec,
    NODE_RETURN_TIMEOUT_IN_SEC: controller.nodeReturnTimeoutInSec,
    NOT_READY_HOLD_IN_SEC: controller.notReadyHoldInSec,
    CACHE_TIMEOUT_IN_SEC: controller.cacheTimeoutInSec,
    CHECK_FAILED_AFTER_IN_SEC: controller.checkFailedAfterInSec,
    ...joiningEnv(controller),
    NODE_ANNOTATIONS: controller.nodeAnnotations || undefined,
    NODE_LIFECYCLE_CONDITIONS: writesLifecycle(settings) ? controller.nodeLifecycleConditions : undefined,
    OTHER_OPERATORS: controller.otherOperators,
    INTERFACE_V1: settings.agent.interfaceV1 || undefined,
    DRAIN_TIMEOUT_IN_SEC: settings.apiserver.drainTimeoutInSec,
    EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: settings.agent.excludeFromLbWaitTimeInSec,
    K3OS_NAMESPACE: k3os.enabled ? k3os.namespace : undefined,
    K3OS_RELEASES_URL: k3os.enabled ? k3os.releasesUrl : undefined,
    UPDATE_REPOSITORIES: settings.repositories,
    REPOSITORIES_DIR,
    NOTIFICATIONS_DIR: notifies(settings) ? NOTIFICATIONS_DIR : undefined,
    HTTP_PORT: controller.httpPort,
  });
}
