import { windowOf } from '../groups/group-times.ts';
import { PASS } from '../facts/requeue.ts';
import type { Asking, World } from './asking.ts';
import { GATES, OWN, type Question } from './gates.ts';

/**
 * What is left to ask of each settled node of a release that has not failed on it: what is alike for all of them is answered by one. What passes is
 * left out, and so is what comes after a finding on all.
 */
export function answeredBy(one: Asking, world: World): readonly Question[] {
  const left: Question[] = [];
  for (const question of OWN) {
    const result = isOfEach(question, one, world) ? undefined : question.ask(one, world);
    if (result !== PASS) left.push(result ? { ...question, ask: () => result } : question);
    if (result?.finding) break;
  }
  return left;
}

function isOfEach({ gate }: Question, one: Asking, world: World): boolean {
  const { name = '', of } = GATES[gate] ?? {};
  return (of === 'node' || of === 'member') && !ALIKE[name]?.(one, world);
}

type IsAlike = (one: Asking, world: World) => boolean;

const always: IsAlike = () => true;

/** Gates of one node that say the same of all settled ones after all: of these there is nothing to ask, or nobody asks it of them now. */
const ALIKE: Readonly<Partial<Record<string, IsAlike>>> = {
  held: always,
  leaving: always,
  ready: always,
  age: ({ group }) => group?.rules.version.minAgeMs === 0,
  'unasked boot': always,
  backoff: always,
  'refused drain': (_, { snapshot }) => snapshot.drainRefusals.size === 0,
  crossed: always,
  'failed check': ({ group }) => group?.rules.checks.before.length === 0,
  interval: ({ group }) => (group?.rules.minIntervalMs ?? 0) === 0,
  window: ({ group }) => group?.rules.mustFit === false && windowOf(group.view)?.triggeredAt === undefined,
  ruler: (_, { snapshot }) => (snapshot.ruledSince?.size ?? 0) === 0,
};
