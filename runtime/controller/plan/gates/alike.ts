import { isArriving } from '../facts/arriving.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { OsRelease } from '../releases/os-release.ts';
import { PASS } from '../facts/requeue.ts';
import type { Asking, World } from './asking.ts';
import { GATES, OWN, type Question } from './gates.ts';

/** Whether something is known of the node that the others of its kind need not share. */
export function isAlone({ node, kind }: AssessedNode, release: OsRelease | undefined, world: World): boolean {
  const { snapshot, settings, withheld, now } = world;
  const { uid, shadowName } = node;
  if (kind === undefined || release?.book.failed.has(uid) || snapshot.ruledSince?.has(uid)) return true;
  if (snapshot.drainRefusals.has(shadowName) || withheld.refusalOf('start', shadowName)) return true;
  return isArriving(node, settings, now);
}

/** What is left to ask of the nodes of one kind, none of which is alone. What passes is left out, and so is what comes after a finding on all. */
export function leftBy(one: Asking, world: World): readonly Question[] {
  const left: Question[] = [];
  for (const question of OWN) {
    const result = isOfEach(question, one) ? undefined : question.ask(one, world);
    if (result !== PASS) left.push(result ? { ...question, ask: () => result } : question);
    if (result?.finding) break;
  }
  return left;
}

/** It is to be asked of each of the kind. */
export function isOfEach({ gate }: Question, one: Asking): boolean {
  const { of, isOfKind } = GATES[gate] ?? {};
  return (of === 'node' || of === 'member') && !isOfKind?.(one);
}
