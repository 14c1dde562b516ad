import type { Told } from './scene.ts';

/** Rules B and C: hosts, their boots, and what is said of them. */
export const ofHosts: readonly Told[] = [
  // A boot that nobody asked for.
  'unplanned-reboot after reboot-recorded',
  'unplanned-reboot before reboot-recorded',
  'unplanned-reboot after spec-advance soon',
  'unplanned-reboot after activate; status-refused after activate',
  'unplanned-reboot after status-error-reset; host-activate after spec-advance',
  'host-no-return after drained',
  // What another tool does to the host.
  'host-staged-by-hand after status-staged',
  'host-restaged-by-hand before activate',
  'host-activated-by-hand before prepare; agent-crashes before prepare soon',
  'host-activated-by-hand after spec-start',
  'hold after status-idle soon for 30-60 min; host-activated-by-hand after status-idle soon for 30-60 min',
  'host-downgrade before prepare',
  'host-no-wave before prepare',
  'host-prepare before prepare',
  // The repository, and what asks it.
  'host-repository-gone after spec-advance',
  'host-repository-silent after drained',
  'host-repository-gone after status-idle for 10-25 min',
  'host-dispatcher-killed before activate',
  'host-updog-killed before activate',
  'host-torn-status after drained',
  'host-unmarked before reboot-asked; unplanned-reboot after status-idle later',
  // The attempt fails after the record was written, or the node is not to reboot any more.
  'host-reboot-500 before reboot-asked',
  'host-reboot-ignored before reboot-asked',
  'host-inhibitor before reboot-asked; unplanned-reboot after reboot-asked later',
  'unmanage after drained',
  'unmanage before reboot-recorded',
  'delete-shadow after reboot-recorded',
  // Nodes that come back as others.
  'node-replaced after spec-start; watch-lags before spec-start',
  'node-replaced after prepare',
  'node-replaced after spec-advance soon',
  'node-replaced after reboot-recorded',
  'host-repository-gone before prepare for 4-8 min; disown-shadow after prepare soon for 3-10 min',
  'disown-shadow after prepare at once for 3-10 min; agent-crashes after prepare in 65-110 s',
  // Statuses that come late.
  'freeze before reboot-recorded; agent-crashes before reboot-recorded soon',
  'freeze before status-error-reset; agent-crashes before status-error-reset soon',
  'lands-late before reboot-recorded; agent-crashes before reboot-recorded soon',
  'lands-late before status-staged; kill before status-staged soon',
  'watch-lags before reboot-recorded; unplanned-reboot before reboot-asked',
  'lands-late before status-sent',
  'lands-late before status-sent; spec-idle after status-sent soon',
  'slow before status-sent; spec-idle after status-sent soon',
  'slow before status-sent; agent-crashes after status-sent soon',
  // Statuses that are refused, for long enough to be reduced or for less.
  'status-refused before reboot-recorded',
  'host-activate before activate; status-refused before activate',
  'host-activate before activate; api-500 before status-error-reset',
  'host-activate before activate; api-403 before status-error-reset',
  'status-refused before status-error-reset for 1-10 min; host-prepare before prepare',
  // As an older client writes them.
  'edit-as-v1 after status-error-reset',
  'edit-as-v1 after reboot-recorded',
  'edit-as-v1 after drain-announced',
  'edit-as-v1 after status-staged; unplanned-reboot after status-staged later',
  ...['spec-start', 'status-staged', 'cordon', 'reboot-asked', 'status-rebooted', 'status-idle', 'wish-written'].map(
    (moment): Told => `edit-as-v1 after ${moment} soon; edit-as-v1 after ${moment} later`,
  ),
];

/** Policies pin versions; from then on seconds count, and it lasts. Meanwhile something may come between. */
const pinned = (...others: readonly Told[]): readonly Told[] =>
  ['status-idle', 'condition'].map((moment) => [`policy-pinned after ${moment} for 6-25 min`, ...others].join('; '));

/** Rule B11: what is set on hosts. */
export const ofLocks: readonly Told[] = [
  ...pinned(),
  ...pinned('agent-crashes before lock-recorded'),
  ...pinned('agent-crashes after lock-recorded'),
  ...pinned('agent-crashes after locked'),
  ...pinned('lands-late before lock-recorded', 'agent-crashes before lock-recorded soon'),
  ...pinned('host-commit-dropped before locked'),
  ...pinned('unplanned-reboot after locked soon'),
  ...pinned('host-forgetful after lock-recorded', 'unplanned-reboot after locked later'),
  ...pinned('host-unrendered before locked'),
  ...pinned('host-applier-failed before locked'),
  ...pinned('host-locked-by-hand after locked later'),
  ...pinned('host-locked-by-hand before wish-written'),
  ...pinned('host-locked-by-hand after locked soon', 'agent-crashes after locked later'),
  ...pinned('delete-shadow after locked soon'),
];

/** An attempt fails, and nobody can write that down for minutes, or hears that it is written. */
const unwritten = (failure: Told): readonly Told[] => [
  `${failure}; ledger-refused after spec-start in 5-20 s for 4-15 min`,
  `${failure}; ledger-lands-late after spec-start in 5-20 s for 4-15 min`,
  `${failure}; ledger-fails before failure-entered for 1-5 min; kill-controller after status-error-reset soon`,
  `${failure}; ledger-hangs before failure-entered; kill-controller before failure-entered soon`,
];

/** Rules F3 and F4: what is written down of it. */
export const ofLedgers: readonly Told[] = [
  ...unwritten('host-boot after spec-start'),
  ...unwritten('host-prepare before prepare'),
  ...unwritten('node-removed after reboot-asked soon'),
  ...unwritten('node-replaced after reboot-asked soon'),
  'ledger-refused before ledger-made for 5-20 min',
  'ledger-lands-late before ledger-made',
  'lost-answer before failure-entered; kill-controller after failure-entered soon',
  'lands-late before failure-entered',
];

/** Rules F: what a release is to blame for. */
export const ofFailures: readonly Told[] = [
  'annotate-node after status-error-reset soon; annotate-node after status-error-reset later',
  'host-boot after spec-start; budget-blocks after status-error-reset',
  'host-boot after spec-start; kill-controller before status-error-reset',
  'host-boot after spec-start',
  'host-prepare before prepare',
  'host-activate before activate',
  'host-no-return before reboot-asked',
  'machine-dies after drained',
  'machine-dies after eviction',
  'machine-dies after status-rebooted',
  'machine-dies after status-staged for 15-50 min',
  'agent-lost after reboot-asked for 15-50 min',
  'agent-lost after status-idle for 15-50 min',
  'kubelet-mute after status-idle for 15-50 min',
  'budget-blocks after spec-advance',
  'machine-clock after spec-start; kill-controller after reboot-asked',
  'machine-clock before reboot-asked',
  'kill-controller after condition',
  'watch-lags before spec-start; host-boot after spec-start',
  'watch-lags-shadows before spec-start',
  'watch-lags-shadows before spec-advance',
];
