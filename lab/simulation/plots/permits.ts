import type { Told } from './scene.ts';

/** Who writes is gone, stalls or is cut off around a write, while those that follow it see an old world. */
const followed = (moment: string): readonly Told[] => [
  `watch-lags before ${moment}; kill-controller between ${moment}`,
  `watch-mute before ${moment}; leader-cut-off between ${moment}`,
  `lands-late before ${moment}; leader-cut-off before ${moment}`,
  `lands-late before ${moment}; kill-controller before ${moment} soon`,
  `freeze-controller before ${moment}; lease-annotated before ${moment} later`,
  `lost-answer before ${moment}; watch-lags before ${moment}; lease-stolen after ${moment} soon`,
  `lost-before before ${moment}; watch-replayed before ${moment} soon`,
];

/** The outcome of a write is another than its author hears, or none, and it goes on; nothing else is in the way. */
const misheard = (moment: string): readonly Told[] =>
  ['lands-late', 'lost-answer', 'lost-before', 'api-409', 'hangs', 'slow'].map((kind) => `${kind} before ${moment}`);

/** Rules L1 to L5: permits, starts, and who leads. */
export const ofPermits: readonly Told[] = [
  ...followed('permit-taken'),
  ...followed('spec-start'),
  ...followed('permit-given-back'),
  ...followed('node-touched'),
  ...misheard('permit-taken'),
  ...misheard('spec-start'),
  ...misheard('bump'),
  'lease-refused before permit-taken',
  'lease-stolen between node-touched',
  'lease-stolen after status-idle at once',
  'watch-lags before spec-start',
  'watch-mute before spec-start',
  // A leader that does not know yet that it is none has something to remember still.
  'lost-before before memory-written; freeze-controller before memory-written at once; lease-deleted before memory-written soon',
  'kill-controller between permit-taken',
  'kill-controller before node-touched',
  'kill-controller before permit-given-back',
  'kill-controller after status-idle at once',
  'node-replaced after permit-taken',
  'node-removed after permit-taken',
  // Acknowledgements out of order.
  'slow before condition; watch-lags before spec-start',
  'lands-late before condition; watch-lags before condition',
  // Refused for good, again and again.
  'spec-refused before spec-start',
  'spec-hangs before spec-start',
  'node-refused before node-touched; kill-controller after node-touched soon',
  // A shadow is gone, and of its agent nobody knows that it is back.
  'agent-crashes after spec-start at once; watch-lags-pods after spec-start in 0.2-1 s; delete-shadow after spec-start in 2-4 s; delete-shadow after spec-start in 6-9 s',
  'delete-shadow after spec-start soon; watch-lags before spec-start',
  // A node that is out takes a place.
  'machine-dies after status-idle for 25-50 min',
  'kubelet-mute after status-idle for 25-50 min',
];

/** Rule L12: the list is gone, or is another, at each point of an update, and what its holder allowed comes late. */
export const ofLists: readonly Told[] = [
  ...['spec-start', 'prepare', 'cordon', 'drained', 'reboot-asked', 'permit-given-back'].map(
    (moment): Told => `permits-taken-off after ${moment} soon`,
  ),
  'permits-taken-off between permit-taken; lands-late before spec-start',
  'permits-taken-off after spec-start soon; lands-late before spec-advance',
  'permits-taken-off after drain-asked at once; lands-late before cordon',
  'permits-taken-off after spec-start soon; kill-controller before list-made',
  'permits-taken-off after cordon; slow before list-made',
  'permits-taken-off after cordon; spec-refused before bump for 1-8 min',
  // It was called off, and its drain has looked before.
  ...['pause', 'hold'].map(
    (kind): Told =>
      `${kind} before drain-asked for 5-15 min; lands-late before cordon; permits-taken-off after spec-call-off at once`,
  ),
  // A drain that has looked goes on once the update was ended by hand, and whoever knew of it leads no more.
  'freeze before cordon for 40-100 s; leader-cut-off before cordon for 20-90 s; spec-idle before cordon soon; permits-taken-off before cordon soon',
  'lease-deleted after spec-start soon',
  'lease-deleted after cordon later; kill-controller after cordon later',
  ...['spec-start', 'status-staged', 'cordon', 'status-rebooted'].map(
    (moment): Told => `permits-overwritten after ${moment} soon`,
  ),
  'permits-overwritten after spec-start later; permits-overwritten after status-idle at once',
  'permits-overwritten after cordon; kill-controller after cordon soon',
  'permits-unreadable after spec-start soon for 1-5 min',
  'permits-unreadable after cordon later for 1-5 min; permits-overwritten after reboot-asked',
];

/** What the leader writes in the middle of an update, or to end one. */
export const ofSteps: readonly Told[] = [
  ...followed('spec-advance'),
  ...followed('spec-call-off'),
  ...followed('spec-rescue'),
  'spec-refused before spec-advance',
  'spec-hangs before spec-advance',
  // A leader that follows knows of no drain, and the node is held.
  'watch-lags-shadows before spec-advance; kill-controller after cordon; hold after drain-asked soon',
  'watch-lags-shadows before spec-start; kill-controller after cordon; slow-pod-lands before cordon',
  // Called off before the node is disturbed.
  'hold after status-staged; lands-late before spec-call-off',
  'hold after status-staged; unplanned-reboot before spec-call-off',
  'hold after status-staged; delete-shadow between spec-call-off',
  'hold before drain-asked; agent-crashes after spec-call-off soon',
  'budget-blocks after status-staged; spec-refused before spec-call-off',
  'budget-blocks after spec-start; budget-blocks after status-staged',
];
