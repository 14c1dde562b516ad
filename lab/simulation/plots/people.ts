import { lasting, LATER, minutes, type Plot, scene, SOON } from './scene.ts';

/** Everything is paused soon after a start, for longer than it takes to know what was decided meanwhile, and for less than that holds. */
const paused = lasting(minutes(2, 8), scene('pause', 'after', 'spec-start', SOON));
const decided = (kind: string) => lasting(minutes(12, 40), scene(kind, 'after', 'spec-start'));

/** What people decide while a node is on its way, and nothing else is in the way: once the pause is over it is called off, or goes on. */
export const DECISIONS: readonly Plot[] = [
  [decided('policy-frozen'), paused],
  [decided('policy-paused'), paused],
  [decided('policy-broken'), paused],
  [scene('kind-unreadable', 'after', 'status-idle'), scene('kill-replicas', 'after', 'status-idle', LATER)],
  [scene('kind-unreadable', 'before', 'drain-asked')],
  [
    lasting(minutes(12, 40), scene('policy-frozen', 'after', 'status-idle')),
    scene('policy-flickers', 'after', 'status-idle', minutes(2, 8)),
  ],
  [
    lasting(minutes(12, 40), scene('policy-paused', 'after', 'status-idle')),
    scene('labels-flicker', 'after', 'status-idle', minutes(2, 8)),
  ],
];

/** Rule P16: a machine joins under the name of another, and meanwhile something comes between. */
const joins = scene('node-replaced', 'after', 'status-idle');
const joined = (kind: string, lasts = minutes(5, 30)): Plot => [
  joins,
  lasting(lasts, scene(kind, 'after', 'status-idle', minutes(2.5, 8))),
];

export const ofArrivals: readonly Plot[] = [
  ...['hold', 'pause', 'policy-paused', 'policy-deleted', 'policy-frozen', 'policy-edited', 'rolled-back'].map((kind) =>
    joined(kind),
  ),
  ...['unmanage', 'relabelled', 'kind-unreadable', 'nodes-refused', 'watch-lags', 'agent-lost'].map((kind) =>
    joined(kind),
  ),
  ...['kill-replicas', 'kill-controller', 'leader-cut-off', 'freeze-controller', 'delete-shadow'].map((kind) =>
    joined(kind),
  ),
  [joins, joins, joins],
  [...joined('kill-controller'), scene('node-replaced', 'after', 'status-idle', minutes(3, 12))],
];

/** Rules L8 and P: what holds for a node changes while it starts, or before it is disturbed. */
export const ofGates: readonly Plot[] = [
  [decided('hold'), paused],
  [lasting(minutes(6, 15), scene('kubelet-mute', 'after', 'spec-start', SOON)), lasting(minutes(2.5, 4), paused)],
  [lasting(minutes(2.5, 5), scene('kubelet-mute', 'after', 'spec-start', SOON)), lasting(minutes(10, 30), paused)],
  [scene('host-prepare', 'before', 'prepare'), paused],
  [lasting(minutes(10, 40), scene('hold', 'after', 'status-idle'))],
  [lasting(minutes(10, 40), scene('pause', 'after', 'status-idle'))],
  [lasting(minutes(10, 40), scene('kubelet-mute', 'after', 'status-idle'))],
  [lasting(minutes(10, 40), scene('unmanage', 'after', 'status-idle'))],
  [scene('hold', 'before', 'spec-advance'), scene('watch-lags', 'before', 'spec-advance')],
  [scene('pause', 'before', 'spec-advance'), scene('hold', 'after', 'status-staged')],
  [scene('policy-frozen', 'before', 'spec-start')],
  [scene('policy-frozen', 'after', 'spec-start')],
  [scene('policy-paused', 'after', 'spec-start'), scene('watch-lags', 'before', 'status-staged')],
  [scene('policy-edited', 'after', 'spec-start', SOON), scene('unplanned-reboot', 'after', 'status-staged')],
  [scene('relabelled', 'before', 'permit-taken'), scene('watch-lags', 'before', 'permit-taken')],
  [scene('relabelled', 'after', 'spec-start'), scene('kill-controller', 'after', 'spec-start', SOON)],
  [scene('relabelled', 'after', 'status-staged'), scene('policy-edited', 'after', 'status-staged', SOON)],
  [scene('policy-deleted', 'after', 'status-idle'), scene('kill-controller', 'after', 'status-idle', LATER)],
  [scene('policy-created', 'after', 'status-idle'), scene('policy-status-refused', 'after', 'status-idle')],
  [scene('kind-unreadable', 'after', 'spec-start'), scene('policy-frozen', 'after', 'spec-start', SOON)],
];
