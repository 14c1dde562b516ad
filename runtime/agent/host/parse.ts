import type { HostCommand, HostStatus, Image, OsInfo, Slot } from './port.ts';
import { Wire } from './wire.ts';

/** The body of `GET /os`. @throws HostProtocolError naming the field that is wrong */
export function parseOs(body: string): OsInfo {
  const os = Wire.parse(body, 'GET /os');
  return { version: os.at('version_id').text(), variant: os.at('variant_id').text(), arch: os.at('arch').text() };
}

/** The body of `GET /updates/status`; fields that nothing here reads are ignored. @throws HostProtocolError naming the field that is wrong */
export function parseStatus(body: string): HostStatus {
  const status = Wire.parse(body, 'GET /updates/status');
  const staging = status.at('staging_partition').optional(slot);
  const lastCommand = status.at('most_recent_command').optional(command);
  return {
    state: status.at('update_state').oneOf(['Idle', 'Available', 'Staged', 'Ready']),
    chosen: status.at('chosen_update').optional(image),
    active: status.at('active_partition').optional(slot),
    staging: bearsOut(lastCommand, staging) ? staging : undefined,
    lastCommand,
  };
}

/**
 * A download chooses again, by the settings and the repository of its own moment, and the status then repeats the choice of the last look;
 * one that failed leaves the status as it was before. Only the command's own words tell what was written.
 */
function bearsOut(last: HostCommand | undefined, staging: Slot | undefined): boolean {
  if (last?.type !== 'prepare') return true;
  return last.status === 'Success' && (last.chose === undefined || last.chose === staging?.image.version);
}

function image(wire: Wire): Image {
  return { version: wire.at('version').text(), variant: wire.at('variant').text(), arch: wire.at('arch').text() };
}

function slot(wire: Wire): Slot {
  return { image: image(wire.at('image')), nextToBoot: wire.at('next_to_boot').flag() };
}

function command(wire: Wire): HostCommand {
  const type = wire.at('cmd_type').oneOf(['refresh', 'prepare', 'activate', 'deactivate']);
  const stderr = wire.at('stderr').optional((text) => text.text());
  return {
    type,
    status: wire.at('cmd_status').oneOf(['Success', 'Failed', 'Unknown']),
    timestamp: wire.at('timestamp').text(),
    exit: wire.at('exit_status').optional((exit) => exit.integer()),
    stderr,
    chose: type === 'prepare' ? choiceIn(stderr) : undefined,
  };
}

/** In the words of updog, which writes the images. */
function choiceIn(stderr = ''): string | null | undefined {
  const version = /^Starting update to (\S+)$/m.exec(stderr)?.[1];
  if (version !== undefined) return version;
  return /^No update required$/m.test(stderr) ? null : undefined;
}
