import type { Moment } from '../moment-names.ts';
import { AT_ONCE, lasting, LATER, minutes, type Plot, scene, seconds, SOON } from './scene.ts';

/** A replica stalls around a write of a drain, while the node's update ends in another way. */
const overtaken = (moment: Moment): readonly Plot[] =>
  ['unplanned-reboot', 'delete-shadow', 'unmanage', 'uncordon', 'agent-crashes', 'node-replaced', 'agent-lost'].flatMap(
    (kind) => [
      [scene('freeze', 'before', moment), scene(kind, 'before', moment, LATER)],
      [scene('lands-late', 'before', moment), scene(kind, 'before', moment, SOON)],
    ],
  );

/** Rules M1 to M4 and M9: drains. */
export const ofDrains: readonly Plot[] = [
  ...overtaken('drain-announced'),
  ...overtaken('cordon'),
  ...overtaken('drained'),
  // The agent acts on a spec of which the shadow is gone, or that somebody has taken back.
  [scene('delete-shadow', 'before', 'drain-asked'), scene('slow', 'before', 'drain-asked')],
  [scene('spec-idle', 'after', 'drain-asked', AT_ONCE)],
  [scene('spec-idle', 'before', 'drain-asked')],
  [scene('spec-idle', 'after', 'reboot-recorded', AT_ONCE)],
  // Cordons come and go while the last look is taken.
  [
    scene('uncordon', 'after', 'eviction'),
    scene('pod-lands', 'after', 'eviction', SOON),
    scene('cordon', 'after', 'eviction', LATER),
  ],
  [scene('uncordon', 'before', 'drained'), scene('pod-lands', 'before', 'drained')],
  [scene('pod-lands', 'before', 'drained')],
  [scene('uncordon', 'after', 'drained')],
  [scene('uncordon', 'before', 'activate')],
  [scene('uncordon', 'after', 'cordon', LATER), scene('pod-lands', 'after', 'cordon', LATER)],
  [scene('uncordon', 'after', 'drained'), scene('cordon', 'after', 'drained', SOON)],
  [scene('cordon', 'before', 'cordon'), scene('budget-blocks', 'before', 'drain-asked')],
  // Between the last look and the proof the Node becomes another.
  [scene('annotate-node', 'between', 'last-look')],
  [scene('uncordon', 'between', 'last-look'), scene('pod-lands', 'between', 'last-look')],
  [scene('slow', 'after', 'eviction'), scene('annotate-node', 'after', 'last-look', AT_ONCE)],
  // Somebody writes to the Node all the time, and reads take their time.
  [scene('slow', 'after', 'cordon'), scene('annotate-node', 'after', 'eviction', LATER)],
  [scene('slow', 'before', 'cordon'), scene('annotate-node', 'after', 'cordon', SOON)],
  // Pods come while volumes are waited for.
  [scene('pod-lands', 'after', 'eviction', SOON), scene('uncordon', 'after', 'eviction', SOON)],
  [scene('pod-lands', 'after', 'eviction', LATER)],
  // A boot in the middle of a drain.
  [scene('unplanned-reboot', 'after', 'cordon', SOON)],
  [scene('unplanned-reboot', 'after', 'eviction', SOON)],
  [scene('unplanned-reboot', 'after', 'drained')],
  [scene('unplanned-reboot', 'after', 'status-staged', SOON), scene('unplanned-reboot', 'after', 'drain-asked', LATER)],
  // Who asks is gone before it is known who asks.
  [scene('no-token-reviews', 'before', 'drain-asked'), scene('agent-crashes', 'before', 'drain-asked', SOON)],
  [scene('slow', 'before', 'drain-asked'), scene('agent-crashes', 'before', 'drain-asked', SOON)],
  // A machine goes without a word, with whoever works on another.
  [scene('machine-dies', 'before', 'drain-asked', SOON)],
  [scene('machine-dies', 'before', 'cordon', SOON), scene('freeze', 'before', 'cordon')],
  [scene('machine-dies', 'after', 'eviction')],
  [scene('kubelet-mute', 'after', 'eviction'), scene('agent-lost', 'after', 'eviction', LATER)],
];

/** Rules M5 to M8: what becomes of marks. */
export const ofMarks: readonly Plot[] = [
  ...overtaken('released'),
  // One cache lags behind the others.
  [scene('watch-lags-nodes', 'before', 'cordon'), scene('delete-shadow', 'after', 'cordon')],
  [
    scene('watch-lags-shadows', 'before', 'spec-start'),
    scene('kill-controller', 'after', 'cordon'),
    scene('budget-blocks', 'before', 'spec-start'),
  ],
  [
    lasting(minutes(3, 6), scene('agent-lost', 'after', 'cordon')),
    scene('watch-lags-pods', 'after', 'cordon', seconds(30, 90)),
  ],
  [
    lasting(minutes(3, 6), scene('agent-lost', 'after', 'drained')),
    scene('watch-lags-pods', 'after', 'drained', seconds(30, 90)),
    scene('delete-shadow', 'after', 'drained', LATER),
  ],
  // Held, cordoned or uncordoned by people while the marks stand, or right after them.
  [lasting(minutes(15, 40), scene('hold', 'after', 'cordon'))],
  [lasting(minutes(15, 40), scene('hold', 'after', 'drained'))],
  [lasting(minutes(15, 40), scene('hold', 'after', 'reboot-asked'))],
  [scene('cordon', 'before', 'spec-start'), scene('agent-crashes', 'after', 'released')],
  [scene('cordon', 'after', 'released', AT_ONCE), scene('agent-crashes', 'after', 'released', AT_ONCE)],
  [scene('cordon', 'after', 'released', AT_ONCE), scene('lost-answer', 'before', 'release-asked')],
  [scene('cordon', 'before', 'spec-advance'), scene('host-reboot-500', 'after', 'status-staged')],
  [
    lasting(minutes(25, 40), scene('agent-lost', 'after', 'cordon')),
    scene('uncordon', 'after', 'cordon', seconds(10, 60)),
    scene('cordon', 'after', 'cordon', minutes(12, 14)),
  ],
  // A release that was asked for in one attempt comes in the next.
  [lasting(seconds(20, 60), scene('hold', 'after', 'prepare')), scene('lands-late', 'before', 'release-asked')],
  // What a shadow says last is deleted with it.
  [scene('unmanage', 'after', 'reboot-asked')],
  [scene('unmanage', 'after', 'spec-advance', LATER), scene('kill-controller', 'before', 'shadow-deleted')],
  // Agents that are gone, at each point of no return, and may come back after all.
  [scene('agent-lost', 'after', 'spec-start')],
  [scene('agent-lost', 'after', 'status-staged')],
  [scene('agent-lost', 'between', 'drained')],
  [scene('agent-lost', 'after', 'status-error-reset')],
  [scene('agent-lost', 'after', 'reboot-recorded')],
  [scene('agent-lost', 'after', 'reboot-asked')],
  [lasting(minutes(20, 50), scene('agent-lost', 'after', 'reboot-asked'))],
  [lasting(minutes(20, 50), scene('agent-lost', 'after', 'cordon'))],
  [scene('agent-lost', 'after', 'released'), scene('delete-shadow', 'after', 'released', SOON)],
  [scene('agent-lost', 'after', 'spec-rescue', SOON), scene('watch-lags', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'cordon'), scene('freeze-controller', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'drained'), scene('delete-shadow', 'after', 'drained', LATER)],
  [scene('agent-lost', 'after', 'cordon'), scene('upstream-agent', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'drained'), scene('unplanned-reboot', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'status-staged'), scene('node-refused', 'before', 'spec-rescue')],
];
