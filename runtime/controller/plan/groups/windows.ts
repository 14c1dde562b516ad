import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Group, Groups } from './groups.ts';
import { windowOf } from './group-times.ts';
import { type GateResult, NEVER, nextAfter, PASS } from '../facts/requeue.ts';
import type { NodeView, ShadowView, WindowState } from '../facts/snapshot.ts';
import { found } from '../facts/verdict.ts';

/** A node with an update to start. */
interface Waiting {
  readonly node: NodeView;
  readonly shadow: ShadowView;
  readonly group: Group;
}

interface Time {
  readonly groups: Pick<Groups, 'families'>;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Whether the windows of its policy let the node start. They do not stop a node that somebody has asked for (rule P9). */
export function byWindow(waiting: Waiting, time: Time): GateResult {
  const { node, shadow, group } = waiting;
  if (node.askedBy !== undefined) return PASS;
  const closed = isInTime(shadow, windowOf(group.view)) ? undefined : group.closed;
  return group.rules.mustFit ? fitting(waiting, closed, time) : (closed ?? group.closing);
}

/** The window must stay open for as long as the update will take. @param closed why no window is open */
function fitting(waiting: Waiting, closed: GateResult | undefined, time: Time): GateResult {
  const { closing, closed: outside = closing, view } = waiting.group;
  const neededMs = updateMsOf(waiting, time);
  const { longestWindowMs = Infinity } = view.kind === 'valid' ? view : {};
  if (neededMs <= longestWindowMs) return closed ?? beforeClosing(closing, neededMs, time);
  // A person has to open a longer one, or to ask for the node.
  const message = `an update of ${about(neededMs)} fits into no window ahead: the longest is open for ${about(longestWindowMs)}`;
  return { finding: found('FitsNoWindow', message), changesAt: outside.changesAt };
}

/** Where a schedule is moments and not windows, a node that was offered its update before the last moment may start. */
function isInTime({ offeredAt }: ShadowView, window: WindowState | undefined): boolean {
  return window?.triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= window.triggeredAt;
}

function beforeClosing(closing: GateResult, neededMs: number, { now }: Time): GateResult {
  const { changesAt } = closing;
  if (changesAt === NEVER) return closing;
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const message = `the window closes before an update of ${about(neededMs)} would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}

/** How long the update will take, milliseconds: as long as the node's last one, or else the longest of its family. */
const updateMsOf = ({ node, shadow }: Waiting, { groups }: Time): number =>
  shadow.lastUpdateMs ?? groups.families.longestUpdateMs(node.family);

const about = (ms: number): string => `about ${Math.ceil(ms / MINUTE_MS)} min`;
