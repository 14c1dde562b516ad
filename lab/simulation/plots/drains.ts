import type { Told } from './scene.ts';

/** A replica stalls around a write of a drain, while the node's update ends in another way. */
const overtaken = (moment: string): readonly Told[] =>
  'unplanned-reboot delete-shadow unmanage uncordon agent-crashes node-replaced agent-lost'
    .split(' ')
    .flatMap((kind) => [
      `freeze before ${moment}; ${kind} before ${moment} later`,
      `lands-late before ${moment}; ${kind} before ${moment} soon`,
    ]);

/** Rules M1 to M4 and M9: drains. */
export const ofDrains: readonly Told[] = [
  ...overtaken('drain-announced'),
  ...overtaken('cordon'),
  ...overtaken('drained'),
  // The agent acts on a spec of which the shadow is gone, or that somebody has taken back.
  'delete-shadow before drain-asked; slow before drain-asked',
  'spec-idle after drain-asked at once',
  'spec-idle before drain-asked',
  'spec-idle after reboot-recorded at once',
  // Cordons come and go while the last look is taken.
  'uncordon after eviction; pod-lands after eviction soon; cordon after eviction later',
  'uncordon before drained; pod-lands before drained',
  'pod-lands before drained',
  'uncordon after drained',
  'uncordon before activate',
  'uncordon after cordon later; pod-lands after cordon later',
  'uncordon after drained; cordon after drained soon',
  'cordon before cordon; budget-blocks before drain-asked',
  // Between the last look and the proof the Node becomes another.
  'annotate-node between last-look',
  'uncordon between last-look; pod-lands between last-look',
  'slow after eviction; annotate-node after last-look at once',
  // Somebody writes to the Node all the time, and reads take their time.
  'slow after cordon; annotate-node after eviction later',
  'slow before cordon; annotate-node after cordon soon',
  // Pods come while volumes are waited for.
  'pod-lands after eviction soon; uncordon after eviction soon',
  'pod-lands after eviction later',
  // A boot in the middle of a drain.
  'unplanned-reboot after cordon soon',
  'unplanned-reboot after eviction soon',
  'unplanned-reboot after drained',
  'unplanned-reboot after status-staged soon; unplanned-reboot after drain-asked later',
  // Who asks is gone before it is known who asks.
  'no-token-reviews before drain-asked; agent-crashes before drain-asked soon',
  'slow before drain-asked; agent-crashes before drain-asked soon',
  // Budgets let no pod go, until the deadline; what is evicted comes up nowhere.
  ...['', '; kill-apiserver after cordon later', '; quota-used-up before drain-asked for 8-30 min'].map(
    (also): Told => `budget-blocks before drain-asked for 6-35 min${also}`,
  ),
  // Pods come to a node that somebody has uncordoned, and its drain has yet to hear of it.
  'budget-blocks before drain-asked for 3-6 min; uncordon after cordon in 15-25 s; pod-lands after cordon in 32-50 s',
  ...['spec-start', 'status-staged', 'drain-announced'].map(
    (moment): Told => `budget-blocks before ${moment} for 18-35 min; budget-blocks before ${moment} for 18-35 min`,
  ),
  ...['spec-start', 'status-staged', 'drain-asked', 'drain-announced'].map(
    (moment): Told => `quota-used-up before ${moment} for 12-25 min`,
  ),
  // A machine goes without a word, with whoever works on another.
  'machine-dies before drain-asked soon',
  'machine-dies before cordon soon; freeze before cordon',
  'machine-dies after eviction',
  'kubelet-mute after eviction; agent-lost after eviction later',
];

/** Rules M5 to M8: what becomes of marks. */
export const ofMarks: readonly Told[] = [
  ...overtaken('released'),
  // One cache lags behind the others.
  'watch-lags-nodes before cordon; delete-shadow after cordon',
  'watch-lags-shadows before spec-start; kill-controller after cordon; budget-blocks before spec-start',
  'agent-lost after cordon for 3-6 min; watch-lags-pods after cordon in 30-90 s',
  'agent-lost after drained for 3-6 min; watch-lags-pods after drained in 30-90 s; delete-shadow after drained later',
  // Held, cordoned or uncordoned by people while the marks stand, or right after them.
  'hold after cordon for 15-40 min',
  'hold after drained for 15-40 min',
  'hold after reboot-asked for 15-40 min',
  'cordon before spec-start; agent-crashes after released',
  'cordon after released at once; agent-crashes after released at once',
  'cordon after released at once; lost-answer before release-asked',
  'cordon before spec-advance; host-reboot-500 after status-staged',
  'agent-lost after cordon for 25-40 min; uncordon after cordon in 10-60 s; cordon after cordon in 12-14 min',
  // A release that was asked for in one attempt comes in the next.
  'hold after prepare for 20-60 s; lands-late before release-asked',
  // What a shadow says last is deleted with it.
  'unmanage after reboot-asked',
  'unmanage after spec-advance later; kill-controller before shadow-deleted',
  // Agents that are gone, at each point of no return, and may come back after all.
  'agent-lost after spec-start',
  'agent-lost after status-staged',
  'agent-lost between drained',
  'agent-lost after status-error-reset',
  'agent-lost after reboot-recorded',
  'agent-lost after reboot-asked',
  'agent-lost after reboot-asked for 20-50 min',
  'agent-lost after cordon for 20-50 min',
  'agent-lost after released; delete-shadow after released soon',
  'agent-lost after spec-rescue soon; watch-lags before spec-rescue',
  'agent-lost after cordon; freeze-controller before spec-rescue',
  'agent-lost after drained; delete-shadow after drained later',
  'agent-lost after cordon; upstream-agent before spec-rescue',
  'agent-lost after drained; unplanned-reboot before spec-rescue',
  'agent-lost after status-staged; node-refused before spec-rescue',
];
