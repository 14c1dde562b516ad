import { type AgentStatus, statusV2 } from './model.ts';
import { NOT_OF_AGENTS } from './names.ts';

/** A part of a BottlerocketShadow that does not fit the model. It names each fault with the path of its field. */
export class InvalidShadowError extends Error {
  override readonly name = 'InvalidShadowError';
  readonly faults: readonly string[];
  constructor(what: string, faults: readonly string[]) {
    super(`${what}: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

const agentStatus = statusV2.omit(NOT_OF_AGENTS);

/** A status as an agent may send it. Fields that are not the agent's are dropped. @throws InvalidShadowError */
export function parseAgentStatus(value: unknown): AgentStatus {
  const result = agentStatus.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || '(whole)'}: ${message}, got ${shown(at(value, path))}`,
  );
  throw new InvalidShadowError('BottlerocketShadow status', faults);
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

/** A value in a message, cut to a bearable length. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
