import type { Told } from './scene.ts';

/** Everything is paused soon after a start, for longer than it takes to know what was decided meanwhile, and for less than that holds. */
const paused = 'pause after spec-start soon for 2-8 min';
const decided = (kind: string): Told => `${kind} after spec-start for 12-40 min; ${paused}`;

/** What people decide while a node is on its way, and nothing else is in the way: once the pause is over it is called off, or goes on. */
export const ofDecisions: readonly Told[] = [
  decided('policy-frozen'),
  decided('policy-paused'),
  decided('policy-broken'),
  'kind-unreadable after status-idle; kill-replicas after status-idle later',
  'kind-unreadable before drain-asked',
  'policy-frozen after status-idle for 12-40 min; policy-flickers after status-idle in 2-8 min',
  'policy-paused after status-idle for 12-40 min; labels-flicker after status-idle in 2-8 min',
];

/** Rule P16: a machine joins under the name of another, and meanwhile something comes between. */
const joined = (kinds: string): readonly Told[] =>
  kinds
    .split(' ')
    .map((kind) => `node-replaced after status-idle; ${kind} after status-idle in 2.5-8 min for 5-30 min`);

export const ofArrivals: readonly Told[] = [
  ...joined('hold pause policy-paused policy-deleted policy-frozen policy-edited rolled-back'),
  ...joined('unmanage relabelled kind-unreadable nodes-refused watch-lags agent-lost'),
  ...joined('kill-replicas kill-controller leader-cut-off freeze-controller delete-shadow'),
  'node-replaced after status-idle; node-replaced after status-idle; node-replaced after status-idle',
  ...joined('kill-controller').map((told) => `${told}; node-replaced after status-idle in 3-12 min`),
];

/** Rules L8 and P: what holds for a node changes while it starts, or before it is disturbed. */
export const ofGates: readonly Told[] = [
  decided('hold'),
  'kubelet-mute after spec-start soon for 6-15 min; pause after spec-start soon for 2.5-4 min',
  'kubelet-mute after spec-start soon for 2.5-5 min; pause after spec-start soon for 10-30 min',
  `host-prepare before prepare; ${paused}`,
  'hold after status-idle for 10-40 min',
  'pause after status-idle for 10-40 min',
  'kubelet-mute after status-idle for 10-40 min',
  'broken after status-idle for 10-40 min',
  'kind-unreadable after status-idle for 10-40 min',
  'policy-pinned after status-idle for 12-40 min; policy-flickers after wish-written in 1-5 min; labels-flicker after wish-written in 1-5 min',
  'unmanage after status-idle for 10-40 min',
  'hold before spec-advance; watch-lags before spec-advance',
  'pause before spec-advance; hold after status-staged',
  'policy-frozen before spec-start',
  'policy-frozen after spec-start',
  'policy-paused after spec-start; watch-lags before status-staged',
  'policy-edited after spec-start soon; unplanned-reboot after status-staged',
  'relabelled before permit-taken; watch-lags before permit-taken',
  'relabelled after spec-start; kill-controller after spec-start soon',
  'relabelled after status-staged; policy-edited after status-staged soon',
  'policy-deleted after status-idle; kill-controller after status-idle later',
  'policy-created after status-idle; policy-status-refused after status-idle',
  'kind-unreadable after spec-start for 10-20 min',
  'kind-unreadable after spec-start; policy-frozen after spec-start soon',
];
