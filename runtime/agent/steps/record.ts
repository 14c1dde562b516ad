import { rfc3339 } from '../../lib/clock.ts';
import type { RebootRecord } from '../../api/shadow/model.ts';
import { withRebootRecord } from '../status.ts';
import type { StepContext } from './context.ts';

/** The record of a reboot in the shadow (rule B1). */

type RecordContext = Pick<StepContext, 'apiserver' | 'clock' | 'logger' | 'view'>;

export function recorded({ view }: Pick<StepContext, 'view'>): RebootRecord | null | undefined {
  return view.value.shadow?.status?.reboot;
}

/** Whether the record is of a reboot of the present boot into `version`: a probe, or a request. */
export function isRecorded(context: Pick<StepContext, 'view'>, version: string): boolean {
  const reboot = recorded(context);
  return reboot?.boot_id === context.view.value.bootId && reboot.version === version;
}

export function isRequested(context: Pick<StepContext, 'view'>, version: string): boolean {
  return isRecorded(context, version) && recorded(context)?.requested_at != null;
}

/** A record of another boot is left from another update. The apiserver would refuse the drain because of it. */
export async function forgetOlderBoot(context: RecordContext, signal: AbortSignal): Promise<void> {
  const reboot = recorded(context);
  if (reboot?.requested_at == null || reboot.boot_id === context.view.value.bootId) return;
  await context.apiserver.report((view) => withRebootRecord(view, null), signal);
}

/** Says that nobody has asked for a reboot into `version` yet. @returns whether the cluster keeps such records */
export async function probe(context: RecordContext, version: string, signal: AbortSignal): Promise<boolean> {
  if (!isRecorded(context, version)) await record(context, { version, requested_at: null }, signal);
  return isRecorded(context, version);
}

/** Without it a rollback could not be told from an unplanned reboot. @returns whether the cluster keeps it */
export async function recordRequest(context: RecordContext, version: string, signal: AbortSignal): Promise<boolean> {
  if (!isRequested(context, version))
    await record(context, { version, requested_at: rfc3339(context.clock.now()) }, signal);
  return isRequested(context, version);
}

async function record(
  { apiserver, view }: RecordContext,
  what: Omit<RebootRecord, 'boot_id'>,
  signal: AbortSignal,
): Promise<void> {
  const reboot = { boot_id: view.value.bootId, ...what };
  await apiserver.report((now) => withRebootRecord(now, reboot), signal);
}
