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
  return {
    state: status.at('update_state').oneOf(['Idle', 'Available', 'Staged', 'Ready']),
    chosen: status.at('chosen_update').optional(image),
    active: status.at('active_partition').optional(slot),
    staging: status.at('staging_partition').optional(slot),
    lastCommand: status.at('most_recent_command').optional(command),
  };
}

function image(wire: Wire): Image {
  return { version: wire.at('version').text(), variant: wire.at('variant').text(), arch: wire.at('arch').text() };
}

function slot(wire: Wire): Slot {
  return { image: image(wire.at('image')), nextToBoot: wire.at('next_to_boot').flag() };
}

function command(wire: Wire): HostCommand {
  return {
    type: wire.at('cmd_type').oneOf(['refresh', 'prepare', 'activate', 'deactivate']),
    status: wire.at('cmd_status').oneOf(['Success', 'Failed', 'Unknown']),
    timestamp: wire.at('timestamp').text(),
    exit: wire.at('exit_status').optional((exit) => exit.integer()),
    stderr: wire.at('stderr').optional((stderr) => stderr.text()),
  };
}
