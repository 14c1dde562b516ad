import type { Mutant } from './mutant.ts';

const LIVE_LOOK = 'runtime/controller/live-look.ts';
const OF_THE_LOOK = ['test/controller/live-look.test.ts'];

/** Rule L1: what is read before a slot is taken. */
export const liveLookMutants: readonly Mutant[] = [
  {
    rule: 'L1',
    does: 'starts what the caches alone have let through',
    file: LIVE_LOOK,
    find: 'confirmed: again.filter((one) => read.some((start) => isSame(start, one))),',
    replace: 'confirmed: read,',
    tests: OF_THE_LOOK,
  },
  {
    rule: 'L1',
    does: 'plans again on nodes as the caches show them',
    file: LIVE_LOOK,
    find: '...caches.laidOver(view, live, now)',
    replace: '...view',
    tests: OF_THE_LOOK,
  },
  {
    rule: 'L1',
    does: 'starts a node on another version than the caches have shown',
    file: LIVE_LOOK,
    find: 'a.nodeUid === b.nodeUid && a.version === b.version',
    replace: 'a.nodeUid === b.nodeUid',
    tests: OF_THE_LOOK,
  },
  {
    rule: 'L1',
    does: 'starts a node of which it could not read whether it may',
    file: LIVE_LOOK,
    find: 'if (error instanceof UnreadError) return { start, live: undefined, error };',
    replace:
      'if (error instanceof UnreadError) return { start, live: { name, shadowName, node: undefined, shadow: undefined, agents: [] } };',
    tests: OF_THE_LOOK,
  },
];
