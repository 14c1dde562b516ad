import { type Mutant, mutantsOf } from './mutant.ts';

const LIVE_LOOK = 'runtime/controller/deciding/live-look.ts';
const OF_THE_LIST = ['test/controller/lost-list.test.ts'];
const OF_THE_LOOK = ['test/controller/live-look.test.ts'];

/** Rules L1 and L12: what is read, and done, before a permit is taken. */
export const liveLookMutants: readonly Mutant[] = [
  ...mutantsOf(LIVE_LOOK, OF_THE_LOOK, {
    'L1: starts what the caches alone have let through': [
      'confirmed: again.filter((one) => read.some((start) => isSame(start, one))),',
      'confirmed: read,',
    ],
    'L1: plans again on nodes as the caches show them': ['...caches.laidOver(view, live, now)', '...view'],
    'L1: starts a node on another version than the caches have shown': [
      'a.nodeUid === b.nodeUid && a.version === b.version',
      'a.nodeUid === b.nodeUid',
    ],
    'L1: starts a node of which it could not read whether it may': [
      'if (error instanceof UnreadError) return { start, live: undefined, error };',
      'if (error instanceof UnreadError) return { start, live: { name, shadowName, node: undefined, shadow: undefined, agents: [] } };',
    ],
  }),
  ...mutantsOf(LIVE_LOOK, OF_THE_LIST, {
    'L12: gives permits before what is under way without one has its own': [
      'if (takings.length === 0) return;',
      'return;',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/ledger.ts', OF_THE_LIST, {
    'L12: goes on from a list that somebody has taken off the Lease': [
      'this.#isMissing = lease.metadata.annotations?.[PERMITS_ANNOTATION] === undefined;',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/ledger.ts', ['test/controller/permits/ledger.test.ts'], {
    'L12: takes over a list that it has not written': [
      "throw new PermitsLostError('the list of permits is none that this process has written');",
      'this.#learn(found);',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/remaking.ts', OF_THE_LIST, {
    'L12: makes the list though a drain may still mark a Node': [
      "if (state !== 'RebootedIntoUpdate') await markReleased(ports, node, signal);",
      '',
    ],
    'L12: leaves what is under way off the list that it makes': [
      'takeoversIn(planner.look(momentOf(clock)), busy)',
      '[]',
    ],
  }),
  ...mutantsOf('runtime/controller/seeing/control-plane.ts', ['test/controller/control-plane.test.ts'], {
    'L8: disturbs nodes while nobody replaces evicted pods': ['isAway: now - since >= AWAY_MS', 'isAway: false'],
  }),
  ...mutantsOf('runtime/controller/writing/actions/fencing.ts', ['test/controller/freed-permits.test.ts'], {
    'L3: gives back the permit of a node that was called off, though its reboot is asked for by now': [
      "spec.state === 'Idle' && shadow.status?.reboot?.requested_at == null;",
      "spec.state === 'Idle';",
    ],
    'L4: takes a shadow that was gone for one at rest': [
      "return permit.because !== 'idle' || !foundNone(ports, permit) || restsLive(ports, permit, signal);",
      'return true;',
    ],
  }),
];
