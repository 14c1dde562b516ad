import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConflictError } from '../../../runtime/kube/errors.ts';
import { httpsTransport } from '../../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../../runtime/kube/kubeconfig.ts';
import { isReady, type Pod } from '../../../runtime/kube/objects.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  APISERVER_SERVICE_ACCOUNT,
  COMPONENT_LABEL,
  COMPONENTS,
  NAMESPACE,
} from '../../../runtime/api/shadow/names.ts';
import { TERMINATION_ANNOTATION } from '../../sim/kubernetes/kubelet/node-pods.ts';
import { addAccounts, projectedToken } from '../../../test/apiserver/agents.ts';
import { Objects } from '../../../test/apiserver/objects.ts';
import { PaperNode } from '../../../test/e2e/paper-node.ts';
import { drainAs } from './drain-as.ts';
import type { Api } from './replica.ts';
import { Replica } from './replica.ts';

export interface ControlPlaneDrain {
  /** File of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Folder of the project, whose `build/` is current. */
  readonly root: string;
  /** A program that drains the node it is given by name, with the cluster's KUBECONFIG in its environment. */
  readonly other?: string | undefined;
  /** On each node. */
  readonly pods: number;
  /** How long each pod takes to end, seconds. */
  readonly endingSeconds: number;
}

/** Seconds that each took; Infinity where pods were left. */
export interface Drained {
  readonly ours: number;
  readonly kubectl: number;
  /** Undefined where no other program was named. */
  readonly other: number | undefined;
}

/**
 * Drains one node of a real control plane by the apiserver, as its agent asks for it, and then others just like it, by `kubectl drain` and
 * by the other program.
 */
export async function drainOnControlPlane(drain: ControlPlaneDrain): Promise<Drained> {
  const { access } = await kubeconfigAccess(drain.kubeconfig);
  const { kubeconfig, root, other } = drain;
  const site = new Site(new Objects(httpsTransport(access, { userAgent: 'bench' })), drain);
  const caPem = String((await access.credentials()).tls.ca);
  const replica = await Replica.start(root, await site.prepare({ url: access.server, caPem }));
  try {
    await site.fill('by-agent');
    const agent = await site.identity('by-agent');
    const ours = await secondsOf(() => drainAs(agent, replica.endpoint));
    await site.fill('by-kubectl');
    const kubectl = await secondsOf(() => run('kubectl', [...KUBECTL_DRAIN, 'by-kubectl'], kubeconfig));
    if (other) await site.fill('by-other');
    const others = other ? await secondsOf(() => run(other, ['by-other'], kubeconfig)) : undefined;
    const left = await site.left();
    return {
      ours: left.has('by-agent') ? Infinity : ours,
      kubectl: left.has('by-kubectl') ? Infinity : kubectl,
      other: left.has('by-other') ? Infinity : others,
    };
  } finally {
    await replica.end();
  }
}

async function secondsOf(drain: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  return (await drain()) ? (performance.now() - began) / 1000 : Infinity;
}

/** Pods that nothing will create anew, as these, are drained only where it is told to. */
const KUBECTL_DRAIN = ['drain', '--force', '--ignore-daemonsets', '--delete-emptydir-data'];

async function run(program: string, args: readonly string[], kubeconfig: string): Promise<boolean> {
  await promisify(execFile)(program, args, { maxBuffer: 16 << 20, env: { ...process.env, KUBECONFIG: kubeconfig } });
  return true;
}

const WORK = 'shop';
const POLL_MS = 250;

/** Nodes with pods on a real control plane, and what the apiserver needs there. */
class Site {
  readonly #objects: Objects;
  readonly #drain: ControlPlaneDrain;

  constructor(objects: Objects, drain: ControlPlaneDrain) {
    this.#objects = objects;
    this.#drain = drain;
  }

  /** @returns how the apiserver reaches the cluster */
  async prepare(server: Omit<Api, 'token'>): Promise<Api> {
    const objects = this.#objects;
    await objects.prepare();
    await addAccounts(objects);
    const account = APISERVER_SERVICE_ACCOUNT;
    await objects.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: account } });
    await objects.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
    });
    await objects.create(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`, AGENTS);
    await this.#until(() => objects.get(`/api/v1/namespaces/${WORK}/serviceaccounts/default`).then(Boolean));
    const audience = 'https://kubernetes.default.svc';
    return { ...server, token: await projectedToken(objects, { account, audience, pod: null }) };
  }

  /** Boots a node, ready to be drained, and waits until its pods and its agent run. */
  async fill(node: string): Promise<void> {
    const { pods, endingSeconds } = this.#drain;
    const api = { transport: this.#objects.transport, clock: systemClock, random: Math.random };
    const machine = new PaperNode({ name: node, api });
    await machine.boot({ osImage: 'Bottlerocket OS 1.38.0 (aws-k8s-1.33)', bootID: 'boot-1' });
    await this.#until(() => this.#objects.addShadow(node).then(() => true));
    for (let index = 0; index < pods; index++) {
      await this.#objects.create(`/api/v1/namespaces/${WORK}/pods`, podOn(node, index, endingSeconds));
    }
    await this.#until(async () => (await this.#on(node)).filter((pod) => isReady(pod)).length > pods);
  }

  /** The agent of a node. */
  async identity(nodeName: string): Promise<{ nodeName: string; nodeUid: string; token: string }> {
    const agent = (await this.#on(nodeName)).find(({ metadata }) => metadata.namespace === NAMESPACE);
    const token = await projectedToken(this.#objects, { pod: agent?.metadata.name ?? '' });
    return { nodeName, nodeUid: (await this.#objects.node(nodeName)).metadata.uid, token };
  }

  /** Nodes that pods of the workload are on. */
  async left(): Promise<ReadonlySet<string | undefined>> {
    const pods = await this.#objects.pods();
    return new Set(pods.filter(({ metadata }) => metadata.namespace === WORK).map(({ spec }) => spec?.nodeName));
  }

  async #on(node: string): Promise<readonly Pod[]> {
    return (await this.#objects.pods()).filter(({ spec }) => spec?.nodeName === node);
  }

  /** Controllers take their time, and the API server to serve a new resource. */
  async #until(holds: () => Promise<boolean>): Promise<void> {
    for (;;) {
      const held = await holds().catch((error: unknown) => error instanceof ConflictError);
      if (held) return;
      await systemClock.sleep(POLL_MS);
    }
  }
}

const LABELS = { [COMPONENT_LABEL]: COMPONENTS.agent };
const AGENTS = {
  metadata: { name: 'agents' },
  spec: {
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        serviceAccountName: AGENT_SERVICE_ACCOUNT,
        containers: [{ name: 'agent', image: 'example.com/agent:1' }],
      },
    },
  },
};

function podOn(nodeName: string, index: number, endingSeconds: number): object {
  return {
    metadata: { name: `${nodeName}-${index}`, annotations: { [TERMINATION_ANNOTATION]: String(endingSeconds) } },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: endingSeconds + 30,
      containers: [{ name: 'web', image: 'example.com/shop/web:1' }],
    },
  };
}
