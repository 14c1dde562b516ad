import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Group } from '../groups/groups.ts';
import { windowOf } from '../groups/group-times.ts';
import { type GateResult, NEVER, nextAfter, PASS } from '../facts/requeue.ts';
import type { WindowState } from '../facts/policies.ts';
import type { ShadowView } from '../facts/snapshot.ts';
import { found } from '../facts/verdict.ts';
import type { Asking, World } from './asking.ts';

/** Whether the windows of its policy let the node start. They do not stop a node that somebody has asked for (rule P9). */
export function byWindow(asking: Asking, world: World): GateResult {
  const { info, shadow, group } = asking;
  if (!group || info.node.askedBy !== undefined) return PASS;
  const closed = isInTime(shadow, windowOf(group.view)) ? undefined : group.closed;
  return group.rules.mustFit
    ? fitting(updateMsOf(asking, world), closed, { group, now: world.now })
    : (closed ?? group.closing);
}

/** It lets all nodes of its policy start, or none. */
export const isOneWindow = ({ group }: Asking): boolean =>
  group?.rules.mustFit === false && windowOf(group.view)?.triggeredAt === undefined;

interface Fitting {
  readonly group: Group;
  readonly now: number;
}

/** The window must stay open for as long as the update will take. @param closed why no window is open */
function fitting(neededMs: number, closed: GateResult | undefined, { group, now }: Fitting): GateResult {
  const { closing, closed: outside = closing, view } = group;
  const { longestWindowMs = Infinity } = view.kind === 'valid' ? view : {};
  if (neededMs <= longestWindowMs) return closed ?? beforeClosing(closing, neededMs, now);
  // A person has to open a longer one, or to ask for the node.
  const message = `an update of ${about(neededMs)} fits into no window ahead: the longest is open for ${about(longestWindowMs)}`;
  return { finding: found('FitsNoWindow', message), changesAt: outside.changesAt };
}

/** Where a schedule is moments and not windows, a node that was offered its update before the last moment may start. */
function isInTime({ offeredAt }: ShadowView, window: WindowState | undefined): boolean {
  return window?.triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= window.triggeredAt;
}

function beforeClosing(closing: GateResult, neededMs: number, now: number): GateResult {
  const { changesAt } = closing;
  if (changesAt === NEVER) return closing;
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const message = `the window closes before an update of ${about(neededMs)} would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}

/** How long the update will take, milliseconds: as long as the node's last one, or else the longest of its family. */
const updateMsOf = ({ info, shadow }: Asking, { groups }: World): number =>
  shadow.lastUpdateMs ?? groups.families.longestUpdateMs(info.node.family);

const about = (ms: number): string => `about ${Math.ceil(ms / MINUTE_MS)} min`;
