import { whyWorse } from '../../../runtime/apiserver/workloads/evidence.ts';
import { type Witness, witnessOf } from '../../../runtime/apiserver/workloads/pods.ts';
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

/** A release proves itself on two nodes, whose drains differ by four minutes; a third follows where one has failed and the release stands. */
function play(fault: Fault, seed: number): Outcome {
  const random = seeded(seed);
  const world = new EvidenceWorld(fault, random);
  const begun = new Map<
    Machine,
    { readonly at: number; readonly before: ReadonlySet<string>; readonly took: number }
  >();
  const failed = new Set<Machine>();
  let isSeen = false;
  const end = SOAK_MINUTES + 30;
  const begin = (machine: Machine | undefined, at: number): void => {
    if (!machine) return;
    begun.set(machine, { at, before: world.isAilingOn(machine, at), took: 3 + Math.floor(random() * 5) });
    world.drain(machine, at);
  };
  for (let now = 0; now < end; now++) {
    if (now === 0) for (const machine of world.machines.slice(0, PROOF_NODES)) begin(machine, now);
    for (const [machine, { at, took }] of begun) if (now === at + took) world.back(machine, now);
    world.step(now);
    failed.clear();
    for (const [machine, { before }] of begun)
      if (machine.upAt !== undefined && now - machine.upAt >= 5 && isWorse(world, machine, before, now))
        failed.add(machine);
    isSeen ||= failed.size > 0;
    if (failed.size >= MAX_FAILED)
      return { isHalted: true, isSeen, reached: begun.size, minutes: now - (world.firstSickAt ?? now) };
    if (failed.size === 1 && begun.size === PROOF_NODES && now > 0) begin(world.machines[2], now);
  }
  return { isHalted: false, isSeen, reached: begun.size, minutes: 0 };
}

/** As the apiserver looks, with what it reads of the pods. */
function isWorse(world: EvidenceWorld, machine: Machine, before: ReadonlySet<string>, now: number): boolean {
  const on = (where: (one: Machine) => boolean): readonly Witness[] =>
    world.podsOf(where, now).flatMap((pod) => witnessOf(pod, instant(now)) ?? []);
  const here = on((one) => one === machine).filter(({ owner }) => !before.has(owner.name));
  const ailing = here.filter(({ health }) => health !== undefined && health !== 'well');
  if (ailing.length === 0) return false;
  const others = on((one) => one !== machine && !one.isDown);
  const runs = (pod: Witness): boolean => world.machines.find(({ name }) => name === pod.node)?.version === NEW;
  return ailing.some(({ owner, labels }) => {
    const isPeer = (one: Witness): boolean =>
      one.owner.uid === owner.uid && one.labels['revision'] === labels['revision'];
    const peers = others.filter(isPeer);
    return whyWorse({
      here: here.filter(isPeer),
      updated: peers.filter(runs),
      elsewhere: peers.filter((one) => !runs(one)),
    });
  });
}

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
