import type { Command, SetHint, SetSpec, SetWish, Start } from '../../controller/plan/facts/commands.ts';
import { isUnderWay } from '../../controller/plan/facts/phase.ts';
import type { PermitView } from '../../controller/plan/facts/permit.ts';
import type { Plan } from '../../controller/plan/plan.ts';
import type { NodeView, ReleaseView, ShadowView, Snapshot } from '../../controller/plan/facts/snapshot.ts';
import { instantOf } from '../../lib/clock.ts';
import { releaseObjectName } from '../../api/release/names.ts';
import { type Arrival, Arrivals, withOffer } from './arrivals.ts';
import { Crowd, type CrowdTerms, type Kin, type Pair } from './crowd.ts';
import type { Durations } from './durations.ts';
import { abandoned, reached, released, wanting } from './effects.ts';

/** Milliseconds until controller or agent has seen a write of the other. */
export const REACTION_MS = 1000;

interface FleetTerms {
  readonly durations: Durations;
  /** Names of nodes whose agents do nothing. */
  readonly stuck: ReadonlySet<string>;
  readonly roomUnder: CrowdTerms['roomUnder'];
  readonly ownNode: string;
  readonly now: number;
  /** The earliest first. */
  readonly arrivals: readonly Arrival[];
}

/**
 * The fleet on a virtual clock. It carries out the plan's commands, and its agents take the estimated time for each step. No update fails
 * besides those that have failed already. A node that is not Ready, or has no agent, stays as it is.
 */
export class VirtualFleet {
  /** Names of nodes that were started in vain, and are not again. */
  readonly givenUp = new Set<string>();
  readonly #nodes: Map<string, NodeView>;
  /** By name of the shadow. */
  readonly #shadows: Map<string, ShadowView>;
  /** By name of the shadow. */
  readonly #permits: Map<string, PermitView>;
  /** By name of the shadow: when its agent will have reached the state in the spec. */
  readonly #due = new Map<string, number>();
  /** By name of the shadow: when its agent will have prepared the version that it is named at rest. */
  readonly #prepared = new Map<string, number>();
  /** By name. */
  readonly #releases: Map<string, ReleaseView>;
  readonly #rest: Snapshot;
  readonly #stuck: ReadonlySet<string>;
  readonly #crowd: Crowd;
  readonly #arrivals: Arrivals;
  readonly #durations: Durations;

  /** @param terms `roomUnder` as `Crowd` has it */
  constructor(snapshot: Snapshot, { durations, stuck, roomUnder, ownNode, now, arrivals }: FleetTerms) {
    this.#rest = snapshot;
    this.#durations = durations;
    this.#stuck = stuck;
    this.#arrivals = new Arrivals(arrivals);
    this.#releases = new Map(snapshot.releases.objects.map((release) => [release.name, release]));
    this.#permits = new Map(snapshot.permits.map((permit) => [permit.shadow, permit]));
    this.#crowd = new Crowd(snapshot, { roomUnder, ownNode, isProven: (pair, kin) => this.#isProven(pair, kin) });
    this.#nodes = new Map(snapshot.nodes.map((node) => [node.shadowName, node]));
    this.#shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
    this.#look();
    for (const shadow of this.#shadows.values()) {
      if (isUnderWay(shadow)) this.#ask(shadow, { began: instantOf(shadow.spec.state_transition_timestamp), now });
      else this.#prepare(shadow, now);
    }
  }

  /** The fleet as it is now. @param policies at this moment */
  snapshot(policies: Snapshot['policies']): Snapshot {
    return {
      ...this.#rest,
      nodes: [...this.#nodes.values()],
      shadows: [...this.#shadows.values()],
      permits: [...this.#permits.values()],
      releases: { ...this.#rest.releases, objects: [...this.#releases.values()], seeds: false },
      policies,
    };
  }

  /** The same with every node, also those that plans need not look at. */
  whole(policies: Snapshot['policies']): Snapshot {
    const sight = this.snapshot(policies);
    const hidden = [...this.#crowd.hidden.values()];
    return {
      ...sight,
      nodes: [...sight.nodes.map((node) => ({ ...node, alike: 0 })), ...hidden.map(({ node }) => node)],
      shadows: [...sight.shadows, ...hidden.map(({ shadow }) => shadow)],
    };
  }

  /** When the next agent reaches its state, or the next wave opens; Infinity where no agent is working and no wave is to come. */
  get nextStep(): number {
    return Math.min(this.#arrivals.next, ...this.#due.values(), ...this.#prepared.values());
  }

  get updating(): number {
    return this.#permits.size;
  }

  /** Lets every agent whose time has come reach its state. @returns the nodes whose update has ended well */
  letAgentsAct(now: number): readonly string[] {
    const done: string[] = [];
    for (const [name, due] of this.#prepared) if (due <= now) this.#stage(name);
    for (const [name, due] of this.#due) {
      if (due > now) continue;
      this.#due.delete(name);
      const shadow = this.#shadows.get(name);
      if (shadow && this.#step(shadow, now)) done.push(this.#nodes.get(name)?.name ?? name);
    }
    this.#openWaves(now);
    return done;
  }

  /** What was written to the ledgers of releases is read at once. */
  carryOut({ commands, ledger: writes }: Pick<Plan, 'commands' | 'ledger'>, now: number): void {
    for (const { name, family, version, seen, ledger } of writes) {
      const made = { name, uid: name, resourceVersion: '', family, version, decision: 'Automatic' as const };
      if (ledger) this.#releases.set(name, { ...made, ...seen, ledger });
      else this.#releases.delete(name);
    }
    for (const command of commands) this.#carryOut(command, now);
    if (writes.length > 0) this.#crowd.proven();
    this.#look();
  }

  #isProven({ node, shadow }: Pair, { policy, value }: Pick<Kin, 'policy' | 'value'>): boolean {
    const name = releaseObjectName({ family: node.family, version: shadow.status?.current_version ?? '' });
    const { provenAt, provenFor } = this.#releases.get(name)?.ledger.policies[policy] ?? {};
    return provenAt != null && (value === undefined || provenFor?.values.includes(value) === true);
  }

  /** Looks at what the crowd has in sight now. */
  #look(): void {
    const { moves, alike } = this.#crowd.changes();
    for (const [name, pair] of moves) {
      if (pair) {
        this.#nodes.set(name, pair.node);
        this.#shadows.set(name, pair.shadow);
      } else {
        this.#nodes.delete(name);
        this.#shadows.delete(name);
      }
    }
    for (const [name, count] of alike) {
      const node = this.#nodes.get(name);
      if (node) this.#nodes.set(name, { ...node, alike: count });
    }
  }

  #pairOf(name: string): Pair | undefined {
    const [node, shadow] = [this.#nodes.get(name), this.#shadows.get(name)];
    return node && shadow ? { node, shadow } : this.#crowd.hidden.get(name);
  }

  /** Nodes are offered what waves have brought by now. */
  #openWaves(now: number): void {
    const offered = new Map<string, Pair>();
    for (const { shadow, version } of this.#arrivals.take(now, (name) => this.#isBusy(name))) {
      const pair = offered.get(shadow) ?? this.#pairOf(shadow);
      if (pair && this.#isWorking(pair.node)) offered.set(shadow, withOffer(pair, version, now));
    }
    for (const [name, { shadow }] of offered) if (this.#shadows.has(name)) this.#shadows.set(name, shadow);
    this.#crowd.offered([...offered.values()]);
    this.#look();
  }

  #isBusy(name: string): boolean {
    const shadow = this.#shadows.get(name);
    return this.#permits.has(name) || (shadow !== undefined && isUnderWay(shadow));
  }

  #carryOut(command: Command, now: number): void {
    if (command.kind === 'start') {
      const { shadow, nodeUid, family, version, policy, zone } = command;
      const permit = { shadow, nodeUid, family, version, policy, zone, since: now, writes: 'settled' } as const;
      this.#permits.set(shadow, { ...permit, id: `${nodeUid} ${now}` });
      this.#wish(command, now);
      this.#crowd.started(shadow);
    } else if (command.kind === 'set-spec') this.#wish(command, now);
    else if (command.kind === 'call-off' || command.kind === 'rescue') this.#end(command, now);
    else if (command.kind === 'set-hint') this.#hint(command, now);
    else if (command.kind === 'set-wish') this.#want(command);
    else if (command.kind === 'delete-shadow') this.#shadows.delete(command.shadow);
    else if ('nodeUid' in command) this.#note(command);
    else if ('node' in command) this.#leaveAlone(command.node);
  }

  /** Where nobody acts on the node, it would be started and ended for ever. */
  #end(command: Extract<Command, { kind: 'call-off' | 'rescue' }>, now: number): void {
    const { shadow: name, node } = command;
    if (command.kind === 'call-off' && this.#workingNode(name)) return this.#wish(command, now);
    this.givenUp.add(node);
    this.#leaveAlone(node, true);
    const shadow = this.#shadows.get(name);
    if (shadow) this.#shadows.set(name, abandoned(shadow));
  }

  #note(command: Extract<Command, { kind: 'free' | 'bump' | 'note-reboot' | 'note-end' }>): void {
    const permit = this.#permits.get(command.shadow);
    if (command.kind === 'free') this.#free(command.shadow);
    if (!permit || command.kind === 'free') return;
    if (command.kind === 'bump') this.#permits.set(command.shadow, { ...permit, writes: 'settled' });
    else if (command.kind === 'note-end') this.#permits.set(command.shadow, { ...permit, ended: command.ended });
    else this.#permits.set(command.shadow, { ...permit, rebootAskedAt: command.rebootAskedAt });
  }

  #free(shadow: string): void {
    this.#permits.delete(shadow);
    const pair = this.#pairOf(shadow);
    if (pair) this.#crowd.finished(pair);
  }

  /** The other commands write to a Node: they undo its marks and end the requests on it. */
  #leaveAlone(name: string, isHeld = false): void {
    for (const [key, node] of this.#nodes)
      if (node.name === name)
        this.#nodes.set(key, { ...released(node), joinable: false, ...NO_REQUESTS, held: node.held || isHeld });
  }

  #hint({ shadow: name, version }: SetHint, now: number): void {
    const shadow = this.#shadows.get(name);
    if (!shadow) return;
    const hinted = { ...shadow, hint: version === null ? undefined : { version, since: now } };
    this.#shadows.set(name, hinted);
    this.#prepared.delete(name);
    this.#prepare(hinted, now);
  }

  #want({ shadow: name, wish }: SetWish): void {
    const shadow = this.#shadows.get(name);
    if (shadow) this.#shadows.set(name, wanting(shadow, wish, this.#workingNode(name) !== undefined));
  }

  #prepare(shadow: ShadowView, now: number): void {
    const { name, hint, status } = shadow;
    const node = this.#workingNode(name);
    if (!node || !hint || !status?.staged || status.staged.version === hint.version) return;
    const done = this.#durations.rounded((hint.since ?? now) + this.#durations.stagingMs(node, shadow));
    this.#prepared.set(name, Math.max(done, now + REACTION_MS));
  }

  #stage(name: string): void {
    this.#prepared.delete(name);
    const shadow = this.#shadows.get(name);
    if (!shadow?.hint || !shadow.status) return;
    const staged = { version: shadow.hint.version, boot_id: this.#nodes.get(name)?.bootId };
    this.#shadows.set(name, { ...shadow, status: { ...shadow.status, staged } });
  }

  #wish({ shadow: name, spec }: Pick<Start | SetSpec, 'shadow' | 'spec'>, now: number): void {
    const shadow = this.#shadows.get(name);
    if (!shadow) return;
    const wished = {
      ...shadow,
      spec: { version_wish: shadow.spec.version_wish, ...spec },
      stateSeenAt: now,
      stepBeganAt: now,
      hint: spec.state === 'Idle' ? shadow.hint : undefined,
    };
    this.#shadows.set(name, wished);
    if (wished.spec.state !== wished.status?.current_state) this.#ask(wished, { began: now, now });
  }

  /** Starts the agent's work, or goes on with what it has begun at rest. */
  #ask(shadow: ShadowView, { began = 0, now }: { readonly began: number | undefined; readonly now: number }): void {
    const { name, spec, status } = shadow;
    const node = this.#workingNode(name);
    if (!node || spec.state === status?.current_state) return;
    const done = this.#prepared.get(name) ?? this.#durations.rounded(began + this.#durations.of(node, shadow));
    this.#prepared.delete(name);
    this.#due.set(name, Math.max(done, now + REACTION_MS));
  }

  /** A node that is not Ready, or has no agent, does nothing. */
  #workingNode(shadow: string): NodeView | undefined {
    const node = this.#nodes.get(shadow);
    return node && this.#isWorking(node) ? node : undefined;
  }

  #isWorking({ ready, name }: NodeView): boolean {
    return ready && !this.#rest.silentSince.has(name) && !this.#stuck.has(name);
  }

  /** @returns whether this ends an update well */
  #step(shadow: ShadowView, now: number): boolean {
    const { spec, status } = shadow;
    const node = this.#nodes.get(shadow.name);
    if (!status || !node) return false;
    const isFinished = spec.state === 'Idle' && status.current_state === 'MonitoringUpdate';
    const ended = isFinished && { finishedAt: now, endedAt: now, upToDateSince: now };
    const next = reached(spec, status, isFinished);
    this.#shadows.set(shadow.name, { ...shadow, ...ended, stateSeenAt: now, status: next });
    if (spec.state === 'RebootedIntoUpdate' || spec.state === 'Idle')
      this.#nodes.set(shadow.name, { ...released(node), version: next.current_version });
    return isFinished;
  }
}

const NO_REQUESTS = { askedBy: undefined, retryOf: undefined };
