/** What one check has found. */
export interface Finding {
  /** What was looked at, e.g. `agents`. */
  readonly check: string;
  /** `unknown`: it could not be looked at. */
  readonly state: 'ok' | 'problem' | 'unknown';
  readonly says: string;
  /** What to do; undefined where nothing is to be done. */
  readonly todo?: string;
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says });
export const unknown = (check: string, says: string, todo?: string): Finding => ({
  check,
  state: 'unknown',
  says,
  ...(todo !== undefined && { todo }),
});
export const problem = (check: string, says: string, todo: string): Finding => ({
  check,
  state: 'problem',
  says,
  todo,
});

/** Some of many names. */
export function namesText(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
