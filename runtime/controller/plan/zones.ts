import type { ZoneRules } from '../../policy/policy.ts';
import type { AssessedNode } from './health.ts';
import { type GateResult, NEVER, PASS, type Refusal } from './requeue.ts';
import { compare, type NodeView } from './snapshot.ts';
import { found } from './verdict.ts';

/** Nodes of one policy with the same value of its label for zones. */
export interface Zone {
  /** Undefined for the nodes without the label. */
  readonly name: string | undefined;
  /** Nodes that take a part of the policy's budget. */
  busy: number;
  /** Those of them that are being updated. */
  updating: number;
  /** When time alone has given back all of that; -Infinity where nothing is taken. */
  busyUntil: number;
}

/** By zone and family, the versions that nodes run. */
type Versions = ReadonlyMap<Zone, ReadonlyMap<string, ReadonlySet<string>>>;

/** In which zones of a policy nodes are being updated, and whether more zones may be. */
export class Zones {
  readonly isLimited: boolean;
  readonly #rules: ZoneRules;
  readonly #members: readonly AssessedNode[];
  readonly #zones = new Map<string | undefined, Zone>();
  #busy = 0;
  #running: Versions | undefined;
  readonly #refusals = new Map<Zone, Refusal>();

  constructor(rules: ZoneRules, members: readonly AssessedNode[]) {
    this.#rules = rules;
    this.#members = members;
    this.isLimited = rules.atOnce !== Infinity;
  }

  of({ labels }: Pick<NodeView, 'labels'>): Zone {
    const name = labels[this.#rules.key];
    const known = this.#zones.get(name);
    if (known) return known;
    const zone = { name, busy: 0, updating: 0, busyUntil: -Infinity };
    this.#zones.set(name, zone);
    return zone;
  }

  /** Whether a node of the zone and family runs the version. */
  runs(zone: Zone, family: string, version: string): boolean {
    this.#running ??= this.#versions();
    return this.#running.get(zone)?.get(family)?.has(version) === true;
  }

  /** The node takes a part of the budget. @param until NEVER = until its update is over */
  occupy(node: Pick<NodeView, 'labels'>, until: number): void {
    const zone = this.of(node);
    if (zone.busy === 0) this.#busy += 1;
    zone.busy += 1;
    if (until === NEVER) zone.updating += 1;
    zone.busyUntil = Math.max(zone.busyUntil, until);
    this.#refusals.clear();
  }

  /** Stops a node of a zone where nodes of as many other zones are busy as may be. */
  gate(node: Pick<NodeView, 'labels'>): GateResult {
    if (!this.isLimited) return PASS;
    const zone = this.of(node);
    const others = this.#busy - Number(zone.busy > 0);
    if (others < this.#rules.atOnce) return PASS;
    const refusal = this.#refusals.get(zone) ?? this.#refuse(zone);
    this.#refusals.set(zone, refusal);
    return refusal;
  }

  #versions(): Versions {
    const running = new Map<Zone, Map<string, Set<string>>>();
    for (const { node, shadow } of this.#members) {
      if (!shadow?.status) continue;
      const zone = this.of(node);
      const families = running.get(zone) ?? new Map<string, Set<string>>();
      const versions = families.get(node.family) ?? new Set();
      running.set(zone, families.set(node.family, versions.add(shadow.status.current_version)));
    }
    return running;
  }

  /** Names the zone that stays busy for longest, so that the message stays true until this zone may begin. */
  #refuse(zone: Zone): Refusal {
    const others = [...this.#zones.values()].filter((other) => other !== zone && other.busy > 0).toSorted(longestBusy);
    const [{ name } = { name: undefined }] = others;
    const where = name === undefined ? `without the label ${this.#rules.key}` : `of zone ${name}`;
    const finding = found('ZoneBusy', `nodes ${where} are being updated, or are not Ready`);
    return { finding, changesAt: others[this.#rules.atOnce - 1]?.busyUntil ?? NEVER };
  }
}

const longestBusy = (a: Zone, b: Zone): number =>
  compare(b.busyUntil, a.busyUntil) || compare(a.name ?? '', b.name ?? '');
