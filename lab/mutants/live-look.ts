import type { Mutant } from './mutant.ts';

const LIVE_LOOK = 'runtime/controller/deciding/live-look.ts';
const OF_THE_LIST = ['test/controller/lost-list.test.ts'];
const OF_THE_LOOK = ['test/controller/live-look.test.ts'];

/** Rules L1 and L12: what is read, and done, before a permit is taken. */
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
  {
    rule: 'L12',
    does: 'gives permits before what is under way without one has its own',
    file: LIVE_LOOK,
    find: 'if (takings.length === 0) return;',
    replace: 'return;',
    tests: OF_THE_LIST,
  },
  {
    rule: 'L12',
    does: 'goes on from a list that somebody has taken off the Lease',
    file: 'runtime/controller/permits/ledger.ts',
    find: 'this.#isMissing = lease.metadata.annotations?.[PERMITS_ANNOTATION] === undefined;',
    replace: '',
    tests: OF_THE_LIST,
  },
  {
    rule: 'L12',
    does: 'takes over a list that it has not written',
    file: 'runtime/controller/permits/ledger.ts',
    find: "throw new PermitsLostError('the list of permits is none that this process has written');",
    replace: 'this.#learn(found);',
    tests: ['test/controller/permits/ledger.test.ts'],
  },
  {
    rule: 'L12',
    does: 'makes the list though a drain may still mark a Node',
    file: 'runtime/controller/permits/remaking.ts',
    find: "if (state !== 'RebootedIntoUpdate') await markReleased(ports, node, signal);",
    replace: '',
    tests: OF_THE_LIST,
  },
  {
    rule: 'L12',
    does: 'leaves what is under way off the list that it makes',
    file: 'runtime/controller/permits/remaking.ts',
    find: 'takeoversIn(planner.look(momentOf(clock)), busy)',
    replace: '[]',
    tests: OF_THE_LIST,
  },
  {
    rule: 'L8',
    does: 'disturbs nodes while nobody replaces evicted pods',
    file: 'runtime/controller/seeing/control-plane.ts',
    find: 'isAway: now - since >= AWAY_MS',
    replace: 'isAway: false',
    tests: ['test/controller/control-plane.test.ts'],
  },
  {
    rule: 'L3',
    does: 'gives back the permit of a node that was called off, though its reboot is asked for by now',
    file: 'runtime/controller/writing/actions/fencing.ts',
    find: "spec.state === 'Idle' && shadow.status?.reboot?.requested_at == null;",
    replace: "spec.state === 'Idle';",
    tests: ['test/controller/freed-permits.test.ts'],
  },
  {
    rule: 'L4',
    does: 'takes a shadow that was gone for one at rest',
    file: 'runtime/controller/writing/actions/fencing.ts',
    find: "return permit.because !== 'idle' || !foundNone(ports, permit) || restsLive(ports, permit, signal);",
    replace: 'return true;',
    tests: ['test/controller/freed-permits.test.ts'],
  },
];
