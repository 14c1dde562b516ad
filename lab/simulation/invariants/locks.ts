import type { Instant } from '../types.ts';
import type { NodeFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';
import { isLocked, type SeenLock } from './seen-locks.ts';

/** An agent reads the settings, and its record, right before it changes them, but hosts may be slow to answer. */
const SEEN_WITHIN = 60_000;
/** Of what a wish has left, once nothing goes wrong any more: looks for updates come every two minutes. */
const GIVEN_BACK_WITHIN = 900_000;

/** B11: what an agent sets on its host is on record, nobody else's, and given back. */
export const locks: Rule = {
  name: 'locks',
  begin(picture) {
    const before = new Map<string, SeenLock>();
    let calmAt: Instant = Infinity;
    return {
      see(entry) {
        if (entry.kind === 'calm') calmAt = entry.at;
        if (entry.kind !== 'host' || entry.event.kind !== 'settings') return NOTHING;
        const last = before.get(entry.node);
        const now = picture.locks.of(entry.node);
        if (now) before.set(entry.node, now);
        return now && last ? faultsOf(picture, { node: entry.node, last, now }) : NOTHING;
      },
      isMet: () => leftIn(picture).length === 0,
      end: (endedAt) => (endedAt - calmAt > GIVEN_BACK_WITHIN ? leftIn(picture) : NOTHING),
    };
  },
};

interface Change {
  readonly node: string;
  readonly last: SeenLock;
  readonly now: SeenLock;
}

function faultsOf({ locks: seen }: Picture, { node, last, now }: Change): readonly string[] {
  if (now.by !== 'agent') return NOTHING;
  const records = seen.recordsOf(node, now.at - SEEN_WITHIN);
  const isNewLock = now.lock !== last.lock;
  const isSet = isNewLock && now.lock !== 'latest';
  const begins = now.ignoresWaves && !last.ignoresWaves;
  return [
    ...(isNewLock && isOwners(last, now) ? [`the agent of ${node} changes the lock of its host's owner`] : []),
    ...(isSet && !records.some(({ lock }) => lock === now.lock)
      ? [`the agent of ${node} locks its host to what is not on record`]
      : []),
    ...(begins && !records.some(({ ignoresWaves }) => ignoresWaves)
      ? [`the agent of ${node} has its host ignore waves, which is not on record`]
      : []),
  ];
}

const isOwners = (last: SeenLock, now: SeenLock): boolean =>
  last.by === 'hand' && last.lock !== 'latest' && now.at - last.at > SEEN_WITHIN;

/** Where an agent runs that could give it back, and nothing is wished any more. */
function leftIn(picture: Picture): readonly string[] {
  if (picture.calmAt === undefined) return NOTHING;
  return [...picture.nodes.values()].flatMap(({ facts }) => {
    const lock = picture.locks.of(facts.name);
    const isLeft = isOurs(picture, facts.name) && mayAct(picture, facts);
    return isLeft ? [`the host of ${facts.name} is still locked to ${lock?.lock} for a wish that has ended`] : [];
  });
}

function isOurs({ locks: seen }: Picture, node: string): boolean {
  const lock = seen.of(node);
  return isLocked(lock) && lock?.by === 'agent' && !seen.isLost(node) && !seen.isWished(node);
}

function mayAct(picture: Picture, facts: NodeFacts): boolean {
  const shadow = picture.shadowOf(facts);
  const isUp = picture.hosts.get(facts.name)?.up === true && picture.agentOf(facts.name).runs;
  return isUp && shadow?.status !== undefined && !shadow.active;
}
