import type { Moment } from '../moment-names.ts';
import { AT_ONCE, lasting, LATER, minutes, type Plot, scene, seconds, SOON } from './scene.ts';

/** Who writes is gone, stalls or is cut off around a write, while those that follow it see an old world. */
const followed = (moment: Moment): readonly Plot[] => [
  [scene('watch-lags', 'before', moment), scene('kill-controller', 'between', moment)],
  [scene('watch-mute', 'before', moment), scene('leader-cut-off', 'between', moment)],
  [scene('lands-late', 'before', moment), scene('leader-cut-off', 'before', moment)],
  [scene('lands-late', 'before', moment), scene('kill-controller', 'before', moment, SOON)],
  [scene('freeze-controller', 'before', moment), scene('lease-annotated', 'before', moment, LATER)],
  [
    scene('lost-answer', 'before', moment),
    scene('watch-lags', 'before', moment),
    scene('lease-stolen', 'after', moment, SOON),
  ],
  [scene('lost-before', 'before', moment), scene('watch-replayed', 'before', moment, SOON)],
];

/** The outcome of a write is another than its author hears, or none, and it goes on; nothing else is in the way. */
const misheard = (moment: Moment): readonly Plot[] =>
  ['lands-late', 'lost-answer', 'lost-before', 'api-409', 'hangs', 'slow'].map((kind) => [
    scene(kind, 'before', moment),
  ]);

/** Rules L1 to L5: permits, starts, and who leads. */
export const ofPermits: readonly Plot[] = [
  ...followed('permit-taken'),
  ...followed('spec-start'),
  ...followed('permit-given-back'),
  ...followed('node-touched'),
  ...misheard('permit-taken'),
  ...misheard('spec-start'),
  ...misheard('bump'),
  [scene('lease-refused', 'before', 'permit-taken')],
  [scene('lease-stolen', 'between', 'node-touched')],
  [scene('lease-stolen', 'after', 'status-idle', AT_ONCE)],
  [scene('watch-lags', 'before', 'spec-start')],
  [scene('watch-mute', 'before', 'spec-start')],
  [scene('kill-controller', 'between', 'permit-taken')],
  [scene('kill-controller', 'before', 'node-touched')],
  [scene('kill-controller', 'before', 'permit-given-back')],
  [scene('kill-controller', 'after', 'status-idle', AT_ONCE)],
  [scene('node-replaced', 'after', 'permit-taken')],
  [scene('node-removed', 'after', 'permit-taken')],
  // Acknowledgements out of order.
  [scene('slow', 'before', 'condition'), scene('watch-lags', 'before', 'spec-start')],
  [scene('lands-late', 'before', 'condition'), scene('watch-lags', 'before', 'condition')],
  // Refused for good, again and again.
  [scene('spec-refused', 'before', 'spec-start')],
  [scene('spec-hangs', 'before', 'spec-start')],
  [scene('node-refused', 'before', 'node-touched'), scene('kill-controller', 'after', 'node-touched', SOON)],
  // A shadow is gone, and of its agent nobody knows that it is back.
  [
    scene('agent-crashes', 'after', 'spec-start', AT_ONCE),
    scene('watch-lags-pods', 'after', 'spec-start', seconds(0.2, 1)),
    scene('delete-shadow', 'after', 'spec-start', seconds(2, 4)),
    scene('delete-shadow', 'after', 'spec-start', seconds(6, 9)),
  ],
  [scene('delete-shadow', 'after', 'spec-start', SOON), scene('watch-lags', 'before', 'spec-start')],
  // A node that is out takes a place.
  [lasting(minutes(25, 50), scene('machine-dies', 'after', 'status-idle'))],
  [lasting(minutes(25, 50), scene('kubelet-mute', 'after', 'status-idle'))],
];

/** What the leader writes in the middle of an update, or to end one. */
export const ofSteps: readonly Plot[] = [
  ...followed('spec-advance'),
  ...followed('spec-call-off'),
  ...followed('spec-rescue'),
  [scene('spec-refused', 'before', 'spec-advance')],
  [scene('spec-hangs', 'before', 'spec-advance')],
  // A leader that follows knows of no drain, and the node is held.
  [
    scene('watch-lags-shadows', 'before', 'spec-advance'),
    scene('kill-controller', 'after', 'cordon'),
    scene('hold', 'after', 'drain-asked', SOON),
  ],
  [
    scene('watch-lags-shadows', 'before', 'spec-start'),
    scene('kill-controller', 'after', 'cordon'),
    scene('slow-pod-lands', 'before', 'cordon'),
  ],
  // Called off before the node is disturbed.
  [scene('hold', 'after', 'status-staged'), scene('lands-late', 'before', 'spec-call-off')],
  [scene('hold', 'after', 'status-staged'), scene('unplanned-reboot', 'before', 'spec-call-off')],
  [scene('hold', 'after', 'status-staged'), scene('delete-shadow', 'between', 'spec-call-off')],
  [scene('hold', 'before', 'drain-asked'), scene('agent-crashes', 'after', 'spec-call-off', SOON)],
  [scene('budget-blocks', 'after', 'status-staged'), scene('spec-refused', 'before', 'spec-call-off')],
  [scene('budget-blocks', 'after', 'spec-start'), scene('budget-blocks', 'after', 'status-staged')],
];
