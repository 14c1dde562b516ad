import type { KubeObject, Node, Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  COMPONENT_LABEL,
  COMPONENTS,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  NAMESPACE,
} from '../../../runtime/api/shadow/names.ts';
import { TOLERATIONS } from '../../sim/kubernetes/daemonsets.ts';
import { createPod, deletePod } from '../../sim/kubernetes/pods.ts';
import { between } from './chance.ts';
import type { Parts, Watcher } from './lookout.ts';

interface DaemonKind {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly serviceAccountName: string;
}

/** A daemon that is not the operator's. */
export const PROXY = 'kube-proxy';
const PROXIES: DaemonKind = { name: PROXY, namespace: 'kube-system', serviceAccountName: PROXY };
const AGENT: DaemonKind = {
  name: 'brupop-agent',
  namespace: NAMESPACE,
  labels: { [COMPONENT_LABEL]: COMPONENTS.agent },
  serviceAccountName: AGENT_SERVICE_ACCOUNT,
};

/** Ours, or that of the older operator. */
export type AgentProgram = 'agent' | 'upstream-agent';

/** Which program the container of an agent's pod runs. */
export function programOf(pod: Pod): AgentProgram | undefined {
  if (pod.metadata.labels?.[COMPONENT_LABEL] !== COMPONENTS.agent) return undefined;
  return pod.spec?.containers?.[0]?.image === 'upstream-agent' ? 'upstream-agent' : 'agent';
}

/** A pod of each kind on each node that should have one. */
export class Daemons implements Watcher {
  readonly #parts: Parts;
  readonly #sets = new Map<string, KubeObject>();
  /** Nodes on which an agent is not what it usually is. */
  readonly #programs = new Map<string, AgentProgram | 'none'>();
  /** Nodes that will be looked at. */
  readonly #due = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Creates what owns the pods. */
  async begin(): Promise<void> {
    for (const { namespace, name } of [PROXIES, AGENT]) {
      const labels = { app: name };
      const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } };
      const made = await this.#parts.hand.create(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, {
        metadata: { name },
        spec,
      });
      if (made) this.#sets.set(name, made);
    }
  }

  /** @param program that of the node's agent from now on; undefined = as on other nodes */
  setAgent(node: string, program: AgentProgram | 'none' | undefined): void {
    if (program) this.#programs.set(node, program);
    else this.#programs.delete(node);
    this.#look(node);
  }

  node(name: string, node: Node | undefined): void {
    if (node) this.#look(name);
  }

  pod(pod: Pod, gone: boolean): void {
    if (gone && pod.spec?.nodeName) this.#look(pod.spec.nodeName);
  }

  /** A moment later, and once for all that happens until then. */
  #look(node: string): void {
    if (this.#due.has(node)) return;
    this.#due.add(node);
    const { timers, random } = this.#parts;
    timers.after(between(random, 100, 900), async () => {
      this.#due.delete(node);
      await this.#sync(node);
    });
  }

  async #sync(name: string): Promise<void> {
    const node = this.#parts.lookout.nodes.get(name);
    if (!node) return;
    await this.#ensure(name, PROXIES, PROXY);
    const managed = node.metadata.labels?.[MANAGED_LABEL] === MANAGED_LABEL_VALUE;
    await this.#ensure(name, AGENT, managed ? (this.#programs.get(name) ?? 'agent') : 'none');
  }

  /** A pod that is still ending holds its node's place: two daemons of a kind never run side by side. */
  async #ensure(node: string, kind: DaemonKind, program: string): Promise<void> {
    const { lookout } = this.#parts;
    const present = lookout.podsOn(node).filter(({ metadata }) => metadata.labels?.['app'] === kind.name);
    const unfit = present.filter((pod) => pod.spec?.containers?.[0]?.image !== program);
    for (const pod of unfit) {
      if (pod.metadata.deletionTimestamp === undefined) await this.#send(deletePod(pod));
    }
    if (present.length === 0 && program !== 'none') await this.#create(node, kind, program);
  }

  async #create(nodeName: string, { name, labels, serviceAccountName }: DaemonKind, image: string): Promise<void> {
    const owner = this.#sets.get(name);
    if (!owner) return;
    const spec = { nodeName, serviceAccountName, tolerations: TOLERATIONS, containers: [{ name, image }] };
    const draft = { ownerKind: 'DaemonSet', owner, template: { spec: {} }, labels: { app: name, ...labels }, spec };
    await this.#send(createPod({ ...draft, random: this.#parts.random }));
  }

  #send({ method, path, body = {} }: Pick<KubeRequest, 'method' | 'path' | 'body'>): Promise<unknown> {
    const { hand } = this.#parts;
    return method === 'POST' ? hand.create(path, body as object) : hand.delete(path, body as object);
  }
}
