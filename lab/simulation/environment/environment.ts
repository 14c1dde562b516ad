import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { Releases } from '../../sim/hosts/releases.ts';
import { podPath } from '../../sim/kubernetes/pods.ts';
import { definePolicies } from '../installation.ts';
import { groupLabels } from '../policies.ts';
import type { TrueTime } from '../clock.ts';
import type { EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import type { Processes } from '../processes.ts';
import type { HostEntry, Release, Scenario } from '../types.ts';
import { HOUR } from '../units.ts';
import { App, type AppSpec } from './app.ts';
import { drawPast, isDead, leave, MONTH_MS, type Past, versionOf } from './beginnings.ts';
import { chance } from './chance.ts';
import { Daemons, programOf } from './daemons.ts';
import { type Family, familyOf } from './family.ts';
import { Hand } from './hand.ts';
import { Lookout } from './lookout.ts';
import { createMachines, Troubles } from './machines.ts';
import { NodeLifecycle } from './node-lifecycle.ts';
import { OperatorPods } from './operator-pods.ts';
import { createPeople } from './people.ts';
import { podStatus } from '../../sim/kubernetes/kubelet/pod-status.ts';
import { Site } from './site.ts';
import { Timers } from './timers.ts';
import { createWorkloads, drawApps, SHOP, withVolumes } from './workloads.ts';

const TOLERATED = [{ key: ARRIVING_KEY, operator: 'Exists', effect: 'NoSchedule' }];

/** The operator's own Deployments. */
const OPERATOR: readonly AppSpec[] = [
  {
    name: 'brupop-apiserver',
    namespace: NAMESPACE,
    replicas: 3,
    labels: { [COMPONENT_LABEL]: COMPONENTS.apiserver },
    serviceAccountName: 'brupop-apiserver-service-account',
    budget: { maxUnavailable: '50%' },
    tolerations: TOLERATED,
  },
  {
    name: 'brupop-controller-deployment',
    namespace: NAMESPACE,
    replicas: 2,
    labels: { [COMPONENT_LABEL]: COMPONENTS.controller },
    serviceAccountName: 'brupop-controller-service-account',
    tolerations: TOLERATED,
  },
];

/** The last machine has booted, and its kubelet has said so. */
const FLEET_UP_MS = 20_000;
const ARRIVING = { key: ARRIVING_KEY, effect: 'NoSchedule' };
/** What a host can fall back to, or be told to go back to, is older than what it runs. */
const OLDER = '1.37.0';

export interface EnvironmentTerms {
  readonly scenario: Scenario;
  readonly cluster: EmbeddedCluster;
  readonly time: TrueTime;
  readonly containers: Processes;
  /** Told of each thing that happens to a host. */
  readonly onHost: (entry: HostEntry) => void;
}

/**
 * Machines, kubelets, the control plane, workloads and people around the operator, on one cluster and in one time. Its own pods included: it starts
 * the operator's containers, hears of their end, and starts them anew as a kubelet does.
 */
export class KubernetesEnvironment {
  readonly machines: ReturnType<typeof createMachines>;
  readonly people: ReturnType<typeof createPeople>;
  readonly workloads: ReturnType<typeof createWorkloads>;
  readonly #terms: EnvironmentTerms;
  readonly #timers: Timers;
  readonly #lookout: Lookout;
  readonly #lifecycle: NodeLifecycle;
  readonly #daemons: Daemons;
  readonly #apps: readonly App[];
  readonly #releases: Releases;
  readonly #pods: OperatorPods;
  readonly #troubles = new Troubles((version) => this.#flaw(version));
  readonly #sites = new Map<string, Site>();
  readonly #controllers: Hand;
  /** Nodes whose machines were dead before, and stay so. */
  readonly #lost = new Set<string>();
  #machinesBuilt = 0;
  /** Whether user data gives the taint `arriving` to machines that join. */
  readonly #tellsArrivals: boolean;

  constructor(terms: EnvironmentTerms) {
    const { scenario, cluster, time, containers } = terms;
    const hand = new Hand(cluster, 'kube-controller-manager');
    const timers = new Timers(time);
    const lookout = new Lookout(hand);
    const parts = (concern: string) => ({ random: this.#chance(concern), clock: time, timers, hand, lookout });
    this.#terms = terms;
    this.#tellsArrivals = scenario.topic === 'arrivals' || this.#chance('arrivals')() < 0.4;
    this.#timers = timers;
    this.#lookout = lookout;
    this.#controllers = hand;
    this.#lifecycle = new NodeLifecycle(parts('lifecycle'));
    this.#daemons = new Daemons(parts('daemons'));
    const drawn = withVolumes(drawApps(scenario.nodes, this.#chance('apps')), this.#chance('volumes'));
    this.#apps = [...OPERATOR, ...drawn].map((spec) => new App(spec, parts(spec.name)));
    this.#pods = new OperatorPods({ containers, timers, troubles: this.#troubles });
    this.#releases = new Releases([OLDER, this.#versions.version]);
    const build = (name: string): Site => this.#build(name);
    const cloud = new Hand(cluster, 'cloud-controller-manager');
    const [sites, daemons, pods, troubles] = [this.#sites, this.#daemons, this.#pods, this.#troubles];
    this.machines = createMachines({ ...parts('machines'), hand: cloud, sites, daemons, pods, troubles, build });
    this.people = createPeople({ hand: new Hand(cluster, 'person'), timers, random: this.#chance('people') });
    this.workloads = createWorkloads({ ...parts('workloads'), apps: this.#apps });
  }

  /** Names of the nodes that there should be. */
  get nodes(): readonly string[] {
    return [...this.#sites.keys()];
  }

  /** Makes all that is there when the run begins. The namespace, the CRD, the accounts and their roles are there already. */
  async begin(): Promise<void> {
    const { scenario } = this.#terms;
    for (const watcher of [this.#lifecycle, this.#daemons, ...this.#apps]) this.#lookout.tell(watcher);
    this.#lookout.tell({
      pod: (pod, gone) => this.#sites.get(pod.spec?.nodeName ?? '')?.kubelet.podChanged(pod, gone),
    });
    this.#timers.do(() => this.#lookout.run());
    await this.#controllers.create('/api/v1/namespaces', { metadata: { name: SHOP } });
    await this.#daemons.begin();
    const names = Array.from({ length: scenario.nodes }, (_, index) => `node-${index + 1}`);
    const past = drawPast(names, this.#chance('past'));
    for (const name of names) this.#sites.set(name, this.#build(name, versionOf(past.nodes.get(name), this.#versions)));
    await this.#leave(past);
    this.#decide();
    for (const site of this.#sites.values()) if (!isDead(past.nodes.get(site.name))) site.powerOn();
    // By then every node is Ready that will be, and pods spread over all of them.
    this.#timers.after(FLEET_UP_MS, async () => {
      for (const app of this.#apps) await app.begin();
    });
    for (const { version, from } of scenario.releases.slice(1)) {
      this.#timers.after(from, () => this.#releases.publish({ version }));
    }
  }

  /** The storm is over: what still is wrong by the environment's own doing ends. Faults have been ended before. */
  calm(): void {
    for (const site of this.#sites.values()) if (!this.#lost.has(site.name)) site.powerOn();
  }

  /** What administrators decide with policies, as soon as there is such a kind. */
  #decide(): void {
    const { cluster, scenario } = this.#terms;
    const { definedAt, policies } = scenario.policies;
    if (definedAt === undefined) return;
    this.#timers.after(definedAt, async () => {
      await definePolicies(cluster);
      for (const [name, spec] of Object.entries(policies)) this.people.changePolicy(name, () => spec);
      this.#approve(Object.keys(policies).filter((name) => policies[name]?.['approval'] === 'Required'));
    });
  }

  /** Most releases are approved, some before they are offered. */
  #approve(approvedFor: readonly string[]): void {
    const { scenario, time } = this.#terms;
    const random = this.#chance('approvals');
    if (approvedFor.length === 0) return;
    for (const { version, from } of scenario.releases) {
      if (random() < 0.15) continue;
      const at = from + (random() - 0.3) * HOUR - time.monotonic();
      this.#timers.after(Math.max(0, at), () => this.people.changeRelease(version, () => ({ approvedFor })));
    }
  }

  /** What was before. Machines that are dead come back at some time, but for some of those that were at rest. */
  async #leave(past: Past): Promise<void> {
    const { cluster, time, scenario } = this.#terms;
    const [before, person] = [new Hand(cluster, 'older-operator'), new Hand(cluster, 'person')];
    const kubelet = (node: string): Hand => new Hand(cluster, `kubelet ${node}`);
    const [family, labels] = [this.#family, this.labelsOf];
    await leave(past, { before, person, kubelet, family, labels, ...this.#versions, now: time.now() });
    const random = this.#chance('returns');
    for (const [name, beginning] of past.nodes) {
      if (!isDead(beginning)) continue;
      this.#lifecycle.silent(name);
      // Nobody has said that the agent does not run any more.
      this.#timers.after(FLEET_UP_MS, () => this.#sayRunning(name, kubelet(name), time.now() - MONTH_MS));
      const back = random();
      if (beginning === 'dead' && back < 0.5) this.#lost.add(name);
      else this.#timers.after(back * scenario.stormMs, () => this.machines.revive(name));
    }
  }

  async #sayRunning(node: string, kubelet: Hand, since: number): Promise<void> {
    const agent = this.#lookout.podsOn(node).find((pod) => programOf(pod) !== undefined);
    if (!agent) return;
    const status = podStatus(agent, { container: { kind: 'running', since }, restarts: 0 }, since);
    await kubelet.patch(`${podPath(agent)}/status`, { status });
  }

  get #versions(): { readonly version: string; readonly older: string } {
    return { version: this.#terms.scenario.releases[0]?.version ?? '1.38.0', older: OLDER };
  }

  #build(name: string, version = this.#versions.version): Site {
    const { scenario, cluster, time, onHost } = this.#terms;
    this.#machinesBuilt += 1;
    this.#lost.delete(name);
    return new Site({
      name,
      version,
      family: this.#family(name),
      labels: this.labelsOf(name),
      taints: this.#tellsArrivals && this.#machinesBuilt > scenario.nodes ? [ARRIVING] : [],
      random: this.#chance(`${name}/${this.#machinesBuilt}`),
      cluster,
      time,
      onHost,
      timers: this.#timers,
      lookout: this.#lookout,
      lifecycle: this.#lifecycle,
      releases: this.#releases,
      pods: this.#pods,
      flaw: (running) => this.#flaw(running),
    });
  }

  readonly #family = (node: string): Family => familyOf(this.#terms.scenario.seed, node);

  /** By which policies select the node, as it was registered. */
  readonly labelsOf = (node: string): Readonly<Record<string, string>> => groupLabels(this.#terms.scenario.seed, node);

  #flaw(version: string): Release['bad'] {
    return this.#terms.scenario.releases.find((release) => release.version === version)?.bad;
  }

  #chance(concern: string): Random {
    return chance(this.#terms.scenario.seed, `environment/${concern}`);
  }
}
