import { z } from 'zod';
import { HostProtocolError } from './errors.ts';
import type { HostStatus, OsInfo } from './port.ts';

/** The host's bodies as they come over the wire; fields that nothing here reads are ignored. */
const os = z
  .object({ version_id: z.string(), variant_id: z.string(), arch: z.string() })
  .transform(({ version_id: version, variant_id: variant, arch }): OsInfo => ({ version, variant, arch }));

const image = z.object({ version: z.string(), variant: z.string(), arch: z.string() });

const slot = z
  .object({ image, next_to_boot: z.boolean() })
  .transform(({ next_to_boot: nextToBoot, ...rest }) => ({ ...rest, nextToBoot }));

const command = z
  .object({
    cmd_type: z.enum(['refresh', 'prepare', 'activate', 'deactivate']),
    cmd_status: z.enum(['Success', 'Failed', 'Unknown']),
    timestamp: z.string(),
    exit_status: z.int().nullish(),
    stderr: z.string().nullish(),
  })
  .transform((wire) => ({
    type: wire.cmd_type,
    status: wire.cmd_status,
    timestamp: wire.timestamp,
    exit: wire.exit_status ?? undefined,
    stderr: wire.stderr ?? undefined,
  }));

const status = z
  .object({
    update_state: z.enum(['Idle', 'Available', 'Staged', 'Ready']),
    chosen_update: image.nullish(),
    active_partition: slot.nullish(),
    staging_partition: slot.nullish(),
    most_recent_command: command.nullish(),
  })
  .transform((wire): HostStatus => ({
    state: wire.update_state,
    chosen: wire.chosen_update ?? undefined,
    active: wire.active_partition ?? undefined,
    staging: wire.staging_partition ?? undefined,
    lastCommand: wire.most_recent_command ?? undefined,
  }));

/** The body of `GET /os`. @throws HostProtocolError naming the field that is wrong */
export function parseOs(body: string): OsInfo {
  return parse(os, body, 'GET /os');
}

/** The body of `GET /updates/status`. @throws HostProtocolError naming the field that is wrong */
export function parseStatus(body: string): HostStatus {
  return parse(status, body, 'GET /updates/status');
}

function parse<T>(schema: z.ZodType<T>, body: string, call: string): T {
  const result = schema.safeParse(fromJson(body, call));
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`);
  throw new HostProtocolError(`${call}: ${faults.join('; ')}`);
}

function fromJson(body: string, call: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new HostProtocolError(`${call}: not JSON: ${JSON.stringify(body.slice(0, 100))}`, { cause });
  }
}
