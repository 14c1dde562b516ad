import type { Node, Pod } from '../../../runtime/kube/objects.ts';
import { AGENT_SERVICE_ACCOUNT, NAMESPACE, shadowName } from '../../../runtime/shadow/names.ts';
import { EmbeddedCluster } from '../../../sim/cluster/cluster.ts';
import { seeded } from '../../random.ts';
import { shadowCrd } from '../../shadow-crd.ts';
import { TrueTime } from '../clock.ts';
import type { HostEntry } from '../entries.ts';
import type { Container } from '../parts.ts';
import type { Process, Release, Scenario } from '../types.ts';
import { createEnvironment } from './environment.ts';
import { Hand } from './hand.ts';

export const MINUTE = 60_000;
const NO_POLICIES = { definedAt: undefined, policies: {} };

interface Told {
  readonly at: number;
  readonly what: string;
}

export interface RigTerms {
  readonly nodes?: number;
  readonly seed?: number;
  readonly releases?: readonly Release[];
}

/** An environment without an operator: its containers start and end, and do nothing. */
export class Rig {
  readonly time = new TrueTime(seeded(1));
  readonly cluster = new EmbeddedCluster({ clock: this.time, random: seeded(2) });
  readonly admin = new Hand(this.cluster, 'test');
  /** What was told of hosts and containers, in order. */
  readonly told: Told[] = [];
  readonly containers = new Map<string, Container>();
  readonly environment;

  constructor({ nodes = 4, seed = 1, releases = [{ version: '1.38.0', from: 0 }] }: RigTerms = {}) {
    const settings = { controller: {}, apiserver: {}, agent: {} };
    const scenario: Scenario = {
      seed,
      nodes,
      stormMs: 60 * MINUTE,
      settings,
      releases,
      faults: [],
      policies: NO_POLICIES,
    };
    this.environment = createEnvironment({
      scenario,
      cluster: this.cluster,
      time: this.time,
      random: seeded(seed),
      containers: { start: (container) => this.#start(container) },
      onHost: ({ node, event }: HostEntry) => this.#tell(`${node} ${event.kind}`),
    });
  }

  /** One that has run for a few minutes. */
  static async at(ms = 5 * MINUTE, terms: RigTerms = {}): Promise<Rig> {
    const rig = new Rig(terms);
    await rig.begin();
    await rig.pass(ms);
    return rig;
  }

  async begin(): Promise<void> {
    await this.admin.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    await this.admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', shadowCrd());
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
    await this.admin.create(accounts, { metadata: { name: AGENT_SERVICE_ACCOUNT } });
    await this.environment.begin();
  }

  pass(ms: number): Promise<void> {
    return this.time.run(this.time.monotonic() + ms);
  }

  async node(name = 'node-1'): Promise<Node & { readonly metadata: { readonly uid: string } }> {
    return (await this.admin.get<Node>(`/api/v1/nodes/${name}`))!;
  }

  async pods(node?: string): Promise<readonly Pod[]> {
    const { items } = (await this.admin.get<{ items: readonly Pod[] }>('/api/v1/pods'))!;
    return node === undefined ? items : items.filter(({ spec }) => spec?.nodeName === node);
  }

  async agent(node = 'node-1'): Promise<Pod | undefined> {
    return (await this.pods(node)).find(({ metadata }) => metadata.name.startsWith('brupop-agent'));
  }

  shadow(node = 'node-1'): string {
    return shadowName(node);
  }

  /** When something of this kind was told, milliseconds. */
  when(what: string): readonly number[] {
    return this.told.filter((one) => one.what === what).map(({ at }) => at);
  }

  #tell(what: string): void {
    this.told.push({ at: this.time.monotonic(), what });
  }

  #start(container: Container): Process {
    const { process: name, kind, node } = container;
    this.containers.set(name, container);
    this.#tell(`${name} starts`);
    const end = (how: string, exitCode: number): void => {
      if (this.containers.get(name) !== container) return;
      this.containers.delete(name);
      this.#tell(`${name} ${how}`);
      container.onEnd({ exitCode });
    };
    const here = (): boolean => this.containers.get(name) === container;
    return {
      name,
      kind,
      node,
      get running() {
        return here();
      },
      kill: () => end('killed', 137),
      vanish: () => end('vanished', 137),
      terminate: () => end('terminated', 0),
      start: () => undefined,
      freeze: () => () => undefined,
      setClock: () => undefined,
    };
  }
}

/** Status of the condition Ready. */
export function readiness({ status }: Pick<Node, 'status'>): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}
