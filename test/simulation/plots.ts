import type { Moment } from './moment-names.ts';
import type { Phase } from './types.ts';

/** One fault of a plot. */
export interface Scene {
  readonly kind: string;
  readonly moment: Moment;
  readonly phase: Phase;
  /** How long after the moment, milliseconds: from, to. Within it unless told. */
  readonly after?: readonly [number, number];
  /** How long it lasts, milliseconds, where that decides: from, to. As its kind says unless told. */
  readonly lasts?: readonly [number, number];
}

/** Faults that come together: each is harmless by itself. */
export type Plot = readonly Scene[];

const SOON = [100, 10_000] as const;
const LATER = [5_000, 120_000] as const;
const MINUTE = 60_000;

const scene = (kind: string, phase: Phase, moment: Moment, after?: readonly [number, number]): Scene => ({
  kind,
  moment,
  phase,
  ...(after && { after }),
});

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

/** A replica stalls around a write of a drain, while the node's update ends in another way. */
const overtaken = (moment: Moment): readonly Plot[] =>
  ['unplanned-reboot', 'delete-shadow', 'unmanage', 'uncordon', 'agent-crashes', 'node-replaced', 'agent-lost'].flatMap(
    (kind) => [
      [scene('freeze', 'before', moment), scene(kind, 'before', moment, LATER)],
      [scene('lands-late', 'before', moment), scene(kind, 'before', moment, SOON)],
    ],
  );

/** After what sequences have broken such protocols: these are drawn more often than chance would have them. */
export const PLOTS: readonly Plot[] = [
  ...followed('slot-taken'),
  ...followed('spec-start'),
  ...followed('spec-advance'),
  ...followed('spec-call-off'),
  ...followed('spec-rescue'),
  ...followed('slot-given-back'),
  ...followed('node-touched'),
  ...overtaken('drain-announced'),
  ...overtaken('cordon'),
  ...overtaken('drained'),
  ...overtaken('released'),
  // The agent acts on a spec of which the shadow is gone; the cache of Nodes lags behind that of shadows.
  [scene('delete-shadow', 'before', 'drain-asked'), scene('slow', 'before', 'drain-asked')],
  [scene('watch-lags', 'before', 'cordon'), scene('delete-shadow', 'after', 'cordon')],
  [scene('delete-shadow', 'after', 'spec-start', SOON), scene('watch-lags', 'before', 'spec-start')],
  // Cordons come and go while the last look is taken.
  [
    scene('uncordon', 'after', 'eviction'),
    scene('pod-lands', 'after', 'eviction', SOON),
    scene('cordon', 'after', 'eviction', LATER),
  ],
  [scene('uncordon', 'before', 'drained'), scene('pod-lands', 'before', 'drained')],
  [scene('pod-lands', 'before', 'drained')],
  [scene('uncordon', 'after', 'cordon', LATER), scene('pod-lands', 'after', 'cordon', LATER)],
  [scene('cordon', 'before', 'spec-start'), scene('agent-crashes', 'after', 'released')],
  [scene('cordon', 'before', 'spec-advance'), scene('host-reboot-500', 'after', 'status-staged')],
  [scene('cordon', 'before', 'cordon'), scene('budget-blocks', 'before', 'drain-asked')],
  [scene('uncordon', 'after', 'drained'), scene('cordon', 'after', 'drained', SOON)],
  // A boot that nobody asked for.
  [scene('unplanned-reboot', 'after', 'reboot-recorded')],
  [scene('unplanned-reboot', 'before', 'reboot-recorded')],
  [scene('unplanned-reboot', 'after', 'drained')],
  [scene('unplanned-reboot', 'after', 'activate'), scene('status-refused', 'after', 'activate')],
  [scene('unplanned-reboot', 'after', 'status-staged', SOON), scene('unplanned-reboot', 'after', 'drain-asked', LATER)],
  [scene('unplanned-reboot', 'after', 'status-error-reset'), scene('host-activate', 'after', 'spec-advance')],
  [scene('host-boot', 'after', 'spec-start'), scene('budget-blocks', 'after', 'status-error-reset')],
  [scene('host-boot', 'after', 'spec-start'), scene('kill-controller', 'before', 'status-error-reset')],
  // The proof stands, and the node is not to reboot any more.
  [scene('unmanage', 'after', 'drained')],
  [scene('unmanage', 'before', 'reboot-recorded')],
  [scene('delete-shadow', 'after', 'reboot-recorded')],
  [scene('hold', 'before', 'spec-advance'), scene('watch-lags', 'before', 'spec-advance')],
  [scene('pause', 'before', 'spec-advance'), scene('hold', 'after', 'status-staged')],
  // What holds for a node changes while it starts, or before it is disturbed.
  [scene('policy-frozen', 'before', 'spec-start')],
  [scene('policy-frozen', 'after', 'spec-start')],
  [scene('policy-paused', 'after', 'spec-start'), scene('watch-lags', 'before', 'status-staged')],
  [scene('policy-edited', 'after', 'spec-start', SOON), scene('unplanned-reboot', 'after', 'status-staged')],
  [scene('relabelled', 'before', 'slot-taken'), scene('watch-lags', 'before', 'slot-taken')],
  [scene('relabelled', 'after', 'spec-start'), scene('kill-controller', 'after', 'spec-start', SOON)],
  [scene('relabelled', 'after', 'status-staged'), scene('policy-edited', 'after', 'status-staged', SOON)],
  [scene('policy-deleted', 'after', 'status-idle'), scene('kill-controller', 'after', 'status-idle', LATER)],
  [scene('policy-created', 'after', 'status-idle'), scene('policy-status-refused', 'after', 'status-idle')],
  [scene('policies-unreadable', 'after', 'spec-start'), scene('policy-frozen', 'after', 'spec-start', SOON)],
  // Agents that are gone, at each point of no return.
  [scene('agent-lost', 'after', 'spec-start')],
  [scene('agent-lost', 'after', 'status-staged')],
  [scene('agent-lost', 'between', 'drained')],
  [scene('agent-lost', 'after', 'status-error-reset')],
  [scene('agent-lost', 'after', 'reboot-recorded')],
  [scene('agent-lost', 'after', 'reboot-asked')],
  [scene('agent-lost', 'after', 'released'), scene('delete-shadow', 'after', 'released', SOON)],
  [scene('agent-lost', 'after', 'spec-rescue', SOON), scene('watch-lags', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'cordon'), scene('freeze-controller', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'drained'), scene('delete-shadow', 'after', 'drained', LATER)],
  // Nodes that go, or come back as others.
  [scene('node-replaced', 'after', 'spec-start'), scene('watch-lags', 'before', 'spec-start')],
  [scene('node-replaced', 'after', 'slot-taken')],
  [scene('node-removed', 'after', 'slot-taken')],
  [scene('node-replaced', 'after', 'reboot-recorded')],
  [scene('machine-dies', 'after', 'eviction')],
  [scene('kubelet-mute', 'after', 'eviction'), scene('agent-lost', 'after', 'eviction', LATER)],
  [scene('host-no-return', 'after', 'drained')],
  // Statuses that come late, or as an older client writes them.
  [scene('freeze', 'before', 'reboot-recorded'), scene('agent-crashes', 'before', 'reboot-recorded', SOON)],
  [scene('freeze', 'before', 'status-error-reset'), scene('agent-crashes', 'before', 'status-error-reset', SOON)],
  [scene('lands-late', 'before', 'reboot-recorded'), scene('agent-crashes', 'before', 'reboot-recorded', SOON)],
  [scene('lands-late', 'before', 'status-staged'), scene('kill', 'before', 'status-staged', SOON)],
  [scene('watch-lags', 'before', 'reboot-recorded'), scene('unplanned-reboot', 'before', 'reboot-asked')],
  [scene('edit-as-v1', 'after', 'status-error-reset')],
  [scene('edit-as-v1', 'after', 'reboot-recorded')],
  [scene('edit-as-v1', 'after', 'drain-announced')],
  [scene('edit-as-v1', 'after', 'status-staged'), scene('unplanned-reboot', 'after', 'status-staged', LATER)],
  [scene('status-refused', 'before', 'reboot-recorded')],
  // Who asks is gone before it is known who asks.
  [scene('no-token-reviews', 'before', 'drain-asked'), scene('agent-crashes', 'before', 'drain-asked', SOON)],
  [scene('slow', 'before', 'drain-asked'), scene('agent-crashes', 'before', 'drain-asked', SOON)],
  // Called off before the node is disturbed.
  [scene('hold', 'after', 'status-staged'), scene('lands-late', 'before', 'spec-call-off')],
  [scene('hold', 'after', 'status-staged'), scene('unplanned-reboot', 'before', 'spec-call-off')],
  [scene('hold', 'after', 'status-staged'), scene('delete-shadow', 'between', 'spec-call-off')],
  [scene('hold', 'before', 'drain-asked'), scene('agent-crashes', 'after', 'spec-call-off', SOON)],
  [scene('budget-blocks', 'after', 'status-staged'), scene('spec-refused', 'before', 'spec-call-off')],
  [scene('budget-blocks', 'after', 'spec-start'), scene('budget-blocks', 'after', 'status-staged')],
  // Rescued, while the agent comes back after all.
  [scene('agent-lost', 'after', 'cordon'), scene('upstream-agent', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'drained'), scene('unplanned-reboot', 'before', 'spec-rescue')],
  [scene('agent-lost', 'after', 'status-staged'), scene('node-refused', 'before', 'spec-rescue')],
  // What a shadow says last is deleted with it.
  [scene('unmanage', 'after', 'reboot-asked')],
  [scene('unmanage', 'after', 'spec-advance', LATER), scene('kill-controller', 'before', 'shadow-deleted')],
  // A machine goes without a word, with whoever works on another.
  [scene('machine-dies', 'before', 'drain-asked', SOON)],
  [scene('machine-dies', 'before', 'cordon', SOON), scene('freeze', 'before', 'cordon')],
  // Refused for good, again and again.
  [scene('spec-refused', 'before', 'spec-start')],
  [scene('spec-refused', 'before', 'spec-advance')],
  [scene('lease-refused', 'before', 'slot-taken')],
  [scene('node-refused', 'before', 'node-touched'), scene('kill-controller', 'after', 'node-touched', SOON)],
  // Acknowledgements out of order.
  [scene('slow', 'before', 'condition'), scene('watch-lags', 'before', 'spec-start')],
  [scene('lands-late', 'before', 'condition'), scene('watch-lags', 'before', 'condition')],
];

/** Everything is paused soon after a start, for longer than it takes to know what was decided meanwhile, and for less than that holds. */
const paused: Scene = { ...scene('pause', 'after', 'spec-start', SOON), lasts: [2 * MINUTE, 8 * MINUTE] };
const decided = (kind: string): Scene => ({ ...scene(kind, 'after', 'spec-start'), lasts: [12 * MINUTE, 40 * MINUTE] });

/** What people decide while a node is on its way, and nothing else is in the way: once the pause is over it is called off, or goes on. */
export const DECISIONS: readonly Plot[] = [
  [decided('policy-frozen'), paused],
  [decided('policy-paused'), paused],
  [decided('policy-broken'), paused],
  [scene('policies-unreadable', 'after', 'status-idle'), scene('kill-replicas', 'after', 'status-idle', LATER)],
  [scene('policies-unreadable', 'before', 'drain-asked')],
];
