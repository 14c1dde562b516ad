import { lasting, LATER, minutes, type Plot, scene, SOON } from './scene.ts';

/** Rules B and C: hosts, their boots, and what is said of them. */
export const ofHosts: readonly Plot[] = [
  // A boot that nobody asked for.
  [scene('unplanned-reboot', 'after', 'reboot-recorded')],
  [scene('unplanned-reboot', 'before', 'reboot-recorded')],
  [scene('unplanned-reboot', 'after', 'spec-advance', SOON)],
  [scene('unplanned-reboot', 'after', 'activate'), scene('status-refused', 'after', 'activate')],
  [scene('unplanned-reboot', 'after', 'status-error-reset'), scene('host-activate', 'after', 'spec-advance')],
  [scene('host-no-return', 'after', 'drained')],
  // What another tool does to the host.
  [scene('host-staged-by-hand', 'after', 'status-staged')],
  [scene('host-restaged-by-hand', 'before', 'activate')],
  [scene('host-activated-by-hand', 'before', 'prepare'), scene('agent-crashes', 'before', 'prepare', SOON)],
  [scene('host-activated-by-hand', 'after', 'spec-start')],
  [scene('host-downgrade', 'before', 'prepare')],
  [scene('host-prepare', 'before', 'prepare')],
  // The repository, and what asks it.
  [scene('host-repository-gone', 'after', 'spec-advance')],
  [scene('host-repository-silent', 'after', 'drained')],
  [scene('host-dispatcher-killed', 'before', 'activate')],
  [scene('host-updog-killed', 'before', 'activate')],
  [scene('host-torn-status', 'after', 'drained')],
  [scene('host-unmarked', 'before', 'reboot-asked'), scene('unplanned-reboot', 'after', 'status-idle', LATER)],
  // The attempt fails after the record was written, or the node is not to reboot any more.
  [scene('host-reboot-500', 'before', 'reboot-asked')],
  [scene('host-reboot-ignored', 'before', 'reboot-asked')],
  [scene('host-inhibitor', 'before', 'reboot-asked'), scene('unplanned-reboot', 'after', 'reboot-asked', LATER)],
  [scene('unmanage', 'after', 'drained')],
  [scene('unmanage', 'before', 'reboot-recorded')],
  [scene('delete-shadow', 'after', 'reboot-recorded')],
  // Nodes that come back as others.
  [scene('node-replaced', 'after', 'spec-start'), scene('watch-lags', 'before', 'spec-start')],
  [scene('node-replaced', 'after', 'prepare')],
  [scene('node-replaced', 'after', 'spec-advance', SOON)],
  [scene('node-replaced', 'after', 'reboot-recorded')],
  // Statuses that come late.
  [scene('freeze', 'before', 'reboot-recorded'), scene('agent-crashes', 'before', 'reboot-recorded', SOON)],
  [scene('freeze', 'before', 'status-error-reset'), scene('agent-crashes', 'before', 'status-error-reset', SOON)],
  [scene('lands-late', 'before', 'reboot-recorded'), scene('agent-crashes', 'before', 'reboot-recorded', SOON)],
  [scene('lands-late', 'before', 'status-staged'), scene('kill', 'before', 'status-staged', SOON)],
  [scene('watch-lags', 'before', 'reboot-recorded'), scene('unplanned-reboot', 'before', 'reboot-asked')],
  [scene('lands-late', 'before', 'status-sent')],
  [scene('lands-late', 'before', 'status-sent'), scene('spec-idle', 'after', 'status-sent', SOON)],
  [scene('slow', 'before', 'status-sent'), scene('spec-idle', 'after', 'status-sent', SOON)],
  [scene('slow', 'before', 'status-sent'), scene('agent-crashes', 'after', 'status-sent', SOON)],
  // Statuses that are refused, for long enough to be reduced or for less.
  [scene('status-refused', 'before', 'reboot-recorded')],
  [scene('host-activate', 'before', 'activate'), scene('status-refused', 'before', 'activate')],
  [scene('host-activate', 'before', 'activate'), scene('api-500', 'before', 'status-error-reset')],
  [scene('host-activate', 'before', 'activate'), scene('api-403', 'before', 'status-error-reset')],
  [
    lasting(minutes(1, 10), scene('status-refused', 'before', 'status-error-reset')),
    scene('host-prepare', 'before', 'prepare'),
  ],
  // As an older client writes them.
  [scene('edit-as-v1', 'after', 'status-error-reset')],
  [scene('edit-as-v1', 'after', 'reboot-recorded')],
  [scene('edit-as-v1', 'after', 'drain-announced')],
  [scene('edit-as-v1', 'after', 'status-staged'), scene('unplanned-reboot', 'after', 'status-staged', LATER)],
];

/** Policies pin versions; from then on seconds count, and it lasts. */
const pinned = lasting(minutes(6, 25), scene('policy-pinned', 'after', 'status-idle'));
const PINNED = lasting(minutes(6, 25), scene('policy-pinned', 'after', 'condition'));
const during = (...scenes: Plot): readonly Plot[] => [
  [pinned, ...scenes],
  [PINNED, ...scenes],
];

/** Rule B11: what is set on hosts. */
export const ofLocks: readonly Plot[] = [
  ...during(),
  ...during(scene('agent-crashes', 'before', 'lock-recorded')),
  ...during(scene('agent-crashes', 'after', 'lock-recorded')),
  ...during(scene('agent-crashes', 'after', 'locked')),
  ...during(scene('lands-late', 'before', 'lock-recorded'), scene('agent-crashes', 'before', 'lock-recorded', SOON)),
  ...during(scene('host-commit-dropped', 'before', 'locked')),
  ...during(scene('unplanned-reboot', 'after', 'locked', SOON)),
  ...during(scene('host-forgetful', 'after', 'lock-recorded'), scene('unplanned-reboot', 'after', 'locked', LATER)),
  ...during(scene('host-unrendered', 'before', 'locked')),
  ...during(scene('host-applier-failed', 'before', 'locked')),
  ...during(scene('host-locked-by-hand', 'after', 'locked', LATER)),
  ...during(scene('host-locked-by-hand', 'before', 'wish-written')),
  ...during(scene('host-locked-by-hand', 'after', 'locked', SOON), scene('agent-crashes', 'after', 'locked', LATER)),
  ...during(scene('delete-shadow', 'after', 'locked', SOON)),
];

/** Rules F: what a release is to blame for. */
export const ofFailures: readonly Plot[] = [
  [scene('host-boot', 'after', 'spec-start'), scene('budget-blocks', 'after', 'status-error-reset')],
  [scene('host-boot', 'after', 'spec-start'), scene('kill-controller', 'before', 'status-error-reset')],
  [scene('host-boot', 'after', 'spec-start')],
  [scene('host-prepare', 'before', 'prepare')],
  [scene('host-activate', 'before', 'activate')],
  [scene('host-no-return', 'before', 'reboot-asked')],
  [scene('machine-dies', 'after', 'drained')],
  [scene('machine-dies', 'after', 'eviction')],
  [scene('machine-dies', 'after', 'status-rebooted')],
  [lasting(minutes(15, 50), scene('machine-dies', 'after', 'status-staged'))],
  [lasting(minutes(15, 50), scene('agent-lost', 'after', 'reboot-asked'))],
  [lasting(minutes(15, 50), scene('agent-lost', 'after', 'status-idle'))],
  [lasting(minutes(15, 50), scene('kubelet-mute', 'after', 'status-idle'))],
  [scene('budget-blocks', 'after', 'spec-advance')],
  [scene('machine-clock', 'after', 'spec-start'), scene('kill-controller', 'after', 'reboot-asked')],
  [scene('machine-clock', 'before', 'reboot-asked')],
  [scene('kill-controller', 'after', 'condition')],
  [scene('watch-lags', 'before', 'spec-start'), scene('host-boot', 'after', 'spec-start')],
  [scene('watch-lags-shadows', 'before', 'spec-start')],
  [scene('watch-lags-shadows', 'before', 'spec-advance')],
];
