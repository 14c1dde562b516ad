import type { Command } from '../plan/commands.ts';
import { adopt, forget } from './nodes.ts';
import type { ActionPorts, Outcome } from './ports.ts';
import { deleteShadow, disown, releaseNode, rescue } from './release.ts';
import { writeHint } from './specs.ts';

/** Commands that no slot depends on. */
export type Upkeep = Extract<
  Command,
  { kind: 'set-hint' | 'release' | 'rescue' | 'disown' | 'adopt' | 'forget' | 'delete-shadow' }
>;

/** @throws what the API server answers */
export function keepUp(ports: ActionPorts, command: Upkeep, signal: AbortSignal): Promise<Outcome> {
  if (command.kind === 'set-hint') return writeHint(ports, command, signal);
  if (command.kind === 'release') return releaseNode(ports, command.node, signal);
  if (command.kind === 'rescue') return rescue(ports, command.node, signal);
  if (command.kind === 'disown') return disown(ports, command.node, signal);
  if (command.kind === 'adopt') return adopt(ports, command.node, signal);
  if (command.kind === 'forget') return forget(ports, command.node, signal);
  return deleteShadow(ports, command, signal);
}
