import type { z } from 'zod';
import { type BrupopProps, brupopProps, type Settings } from './brupop.ts';

/** Props that do not fit; one fault per prop with its path, what was expected and what came. */
export class InvalidPropsError extends Error {
  override readonly name = 'InvalidPropsError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The props have ${faults.length} fault(s):\n${faults.map((line) => `  ${line}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Checks `props` and completes them with the defaults.
 * @throws InvalidPropsError naming every fault
 */
export function settingsOf(props: BrupopProps): Settings {
  return checkProps(brupopProps, props);
}

/** @throws InvalidPropsError naming every fault */
export function checkProps<T extends z.ZodType>(schema: T, props: z.input<T>): z.output<T> {
  const result = schema.safeParse(props);
  if (result.success) return result.data;
  throw new InvalidPropsError(result.error.issues.flatMap((issue) => faultsOf(issue, props)));
}

function faultsOf(issue: z.core.$ZodIssue, props: unknown): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => fault([...issue.path, key], 'expected no such prop', props));
  }
  if (issue.code === 'invalid_key') return [`${pathText(issue.path)}: ${issue.issues[0]?.message ?? issue.message}`];
  return [fault(issue.path, issue.message.replace(/^Invalid input: /, ''), props)];
}

function fault(path: readonly PropertyKey[], expected: string, props: unknown): string {
  const value = path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key],
    props,
  );
  return `${pathText(path)}: ${expected.replace(/, received .*$/, '')}, got ${shown(value)}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map(String).join('.') || '(props)';
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value).slice(0, 100);
}
