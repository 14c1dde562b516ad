import type { z } from 'zod';
import { type AgentStatus, type Shadow, shadowV2, statusV2 } from './model.ts';

/** A BottlerocketShadow, or a part of one, that does not fit the model; one fault per field, each with its path. */
export class InvalidShadowError extends Error {
  override readonly name = 'InvalidShadowError';
  readonly faults: readonly string[];
  constructor(what: string, faults: readonly string[]) {
    super(`${what}: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

const agentStatus = statusV2.omit({ conditions: true, drain: true });

/** @throws InvalidShadowError */
export function parseShadow(value: unknown): Shadow {
  return parse(shadowV2, value, 'BottlerocketShadow');
}

/** A status as an agent may send it. Fields that are not the agent's are dropped. @throws InvalidShadowError */
export function parseAgentStatus(value: unknown): AgentStatus {
  return parse(agentStatus, value, 'BottlerocketShadow status');
}

function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidShadowError(
    what,
    result.error.issues.map(
      (issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}, got ${shown(at(value, issue.path))}`,
    ),
  );
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
