import { whyWorse } from '../../../runtime/apiserver/workloads/evidence.ts';
import { type Witness, witnessOf } from '../../../runtime/apiserver/workloads/pods.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { seeded } from '../../../test/random.ts';
import type { Bench, Figure } from '../bench.ts';
import { EvidenceWorld, type Fault, FAULTS, instant, NEW, OF_RELEASE } from './evidence-world.ts';

/** Nodes that prove, and entries that halt: as many. */
const PROOF_NODES = 2;
const MAX_FAILED = 2;
const SOAK_MINUTES = 60;
const SEEDS = 1000;

interface Outcome {
  readonly isHalted: boolean;
  readonly isSeen: boolean;
  /** Nodes that got the release. */
  readonly reached: number;
  /** From the first pod that ails to the halt, minutes. */
  readonly minutes: number;
}

type Machine = EvidenceWorld['machines'][number];

interface Canary {
  readonly machine: Machine;
  /** When it is back from its update. */
  readonly backAt: number;
  /** Owners whose pods ailed there before. */
  readonly before: ReadonlySet<string>;
}

/** A release proves itself on two nodes, whose drains differ by four minutes; a third follows where one has failed and the release stands. */
class Rollout {
  readonly #world: EvidenceWorld;
  readonly #random: Random;
  readonly #canaries: Canary[] = [];

  constructor(fault: Fault, seed: number) {
    this.#random = seeded(seed);
    this.#world = new EvidenceWorld(fault, this.#random);
  }

  play(): Outcome {
    let isSeen = false;
    for (const machine of this.#world.machines.slice(0, PROOF_NODES)) this.#begin(machine, 0);
    for (let now = 0; now < SOAK_MINUTES + 30; now++) {
      const failed = this.#failedAt(now);
      isSeen ||= failed > 0;
      const reached = this.#canaries.length;
      const minutes = now - (this.#world.firstSickAt ?? now);
      if (failed >= MAX_FAILED) return { isHalted: true, isSeen, reached, minutes };
      const next = failed === 1 && reached === PROOF_NODES ? this.#world.machines.slice(reached, reached + 1) : [];
      for (const machine of next) this.#begin(machine, now);
    }
    return { isHalted: false, isSeen, reached: this.#canaries.length, minutes: 0 };
  }

  #begin(machine: Machine, now: number): void {
    const backAt = now + 3 + Math.floor(this.#random() * 5);
    this.#canaries.push({ machine, backAt, before: this.#world.isAilingOn(machine, now) });
    this.#world.drain(machine, now);
  }

  #failedAt(now: number): number {
    for (const { machine, backAt } of this.#canaries) if (now === backAt) this.#world.back(machine, now);
    this.#world.step(now);
    return this.#canaries.filter((canary) => now - canary.backAt >= 5 && this.#isWorse(canary, now)).length;
  }

  /** As the apiserver looks, with what it reads of the pods. */
  #isWorse({ machine, before }: Canary, now: number): boolean {
    const on = (where: (one: Machine) => boolean): readonly Witness[] =>
      this.#world.podsOf(where, now).flatMap((pod) => witnessOf(pod, instant(now)) ?? []);
    const here = on((one) => one === machine).filter(({ owner }) => !before.has(owner.name));
    const ailing = here.filter(({ health }) => health !== undefined && health !== 'well');
    if (ailing.length === 0) return false;
    const others = on((one) => one !== machine && !one.isDown);
    const updated = new Set(this.#world.machines.flatMap(({ name, version }) => (version === NEW ? name : [])));
    return ailing.some(({ owner, labels }) => {
      const isPeer = (one: Witness): boolean =>
        one.owner.uid === owner.uid && one.labels['revision'] === labels['revision'];
      const [same = [], other = []] = [true, false].map((is) =>
        others.filter((one) => isPeer(one) && updated.has(one.node) === is),
      );
      return whyWorse({ here: here.filter(isPeer), updated: same, elsewhere: other }) !== undefined;
    });
  }
}

const play = (fault: Fault, seed: number): Outcome => new Rollout(fault, seed).play();

function figuresOf(fault: Fault): readonly Figure[] {
  const isBad = OF_RELEASE.includes(fault);
  const share = isBad ? SEEDS / 5 : SEEDS / (Object.keys(FAULTS).length - OF_RELEASE.length);
  const outcomes = Array.from({ length: share }, (_, at) => play(fault, 1 + at * 7919 + fault.length));
  const halted = outcomes.filter(({ isHalted }) => isHalted);
  const name = `${fault} (${FAULTS[fault]})`;
  const count = (what: string, value: number, atMost?: number): Figure => ({
    name: `${name}: ${what}`,
    value,
    unit: '',
    ...(atMost !== undefined && { atMost }),
  });
  const of = `of ${outcomes.length} seeds`;
  if (!isBad)
    return [
      count(`halts ${of}`, halted.length, 0),
      count('seeds with a warning', outcomes.filter(({ isSeen }) => isSeen).length),
    ];
  const minutes = halted.map((one) => one.minutes).toSorted((a, b) => a - b);
  return [
    count(`missed ${of}`, outcomes.length - halted.length, 0),
    count('nodes that got it at most', Math.max(...outcomes.map(({ reached }) => reached)), PROOF_NODES + 2),
    { name: `${name}: first pod to the halt, p50`, value: minutes[Math.floor(minutes.length / 2)] ?? NaN, unit: 'min' },
    {
      name: `${name}: the same, p99`,
      value: minutes[Math.ceil(minutes.length * 0.99) - 1] ?? NaN,
      unit: 'min',
      atMost: 10,
    },
  ];
}

/** How sure, and how soon, what pods show halts a bad release, and no good one. */
export const evidence: Bench = {
  name: 'evidence',
  what: 'releases judged by the pods of their nodes, over 1,000 seeds of infrastructure faults and 600 of bad releases',
  run: async () => (Object.keys(FAULTS) as Fault[]).flatMap(figuresOf),
};
