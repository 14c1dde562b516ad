import type { RebootRecord, Status } from '../../shadow/model.ts';
import type { NodeView, ShadowView } from './snapshot.ts';

/** Rules B1 and F1: whether a reboot was asked for, and whether the host has been booted since. */

/** States that end the step in which a reboot is asked for. */
const OVER: ReadonlySet<Status['current_state']> = new Set(['RebootedIntoUpdate', 'ErrorReset']);

/**
 * What tells that a reboot was asked for in this attempt: a text that is the same for as long as the request is. Undefined where nobody asked.
 * Where there are marks, their drain must be over first. An agent that keeps records has one from when the version is staged, and of one that
 * keeps none the end of the drain is the request; under an older apiserver, which leaves no marks, that is the cordon.
 */
export function rebootRequest({ spec, status }: Pick<ShadowView, 'spec' | 'status'>, node: Host): string | undefined {
  if (spec.state !== 'RebootedIntoUpdate' || !status || OVER.has(status.current_state)) return undefined;
  const { reboot } = status;
  if (!reboot) return unrecordedRequest(node);
  return isRequest(reboot) && reboot.version === spec.version && !isDraining(node) ? reboot.boot_id : undefined;
}

type Host = Pick<NodeView, 'marks' | 'unschedulable'>;

function unrecordedRequest(node: Host): string | undefined {
  if (isDraining(node)) return undefined;
  return node.marks?.id ?? (node.unschedulable ? 'cordoned' : undefined);
}

const isDraining = ({ marks }: Host): boolean => marks !== undefined && marks.drained === undefined;

/** A record without `requested_at` is a probe: nobody asked for a reboot. */
const isRequest = ({ requested_at }: RebootRecord): boolean => requested_at != null;

/** The host was rebooted as recorded, so its agent, once back, has something to report that spec must still fit. */
export function isBackFromReboot(bootId: string | undefined, { status }: Pick<ShadowView, 'status'>): boolean {
  const reboot = status?.reboot;
  return reboot != null && isRequest(reboot) && isAnotherBoot(bootId, reboot.boot_id);
}

/**
 * The host came back, by its kubelet: it runs the version, or it has at least been booted since that was asked for. Its agent has not said
 * so, or the status would be another.
 */
export function isBackUnreported(
  { version, bootId, marks }: NodeView,
  { spec, status, rebootAskedAt }: ShadowView,
): boolean {
  if (!status) return false;
  if (version !== undefined && version === spec.version && version !== status.current_version) return true;
  return rebootAskedAt !== undefined && isAnotherBoot(bootId, status.reboot?.boot_id ?? marks?.boot);
}

function isAnotherBoot(bootId: string | undefined, before: string | null | undefined): boolean {
  return bootId !== undefined && before != null && bootId !== before;
}
