import { firstOf } from '../output/output.ts';

/** The result of one check. */
export interface DoctorFinding {
  /** What was looked at, e.g. `agents`. */
  readonly check: string;
  /** `unknown`: the check could not be made. */
  readonly state: 'ok' | 'problem' | 'unknown';
  readonly says: string;
  /** Advice; undefined where nothing has to be done. */
  readonly todo?: string;
}

export const ok = (check: string, says: string): DoctorFinding => ({ check, state: 'ok', says });
export const unknown = (check: string, says: string, todo?: string): DoctorFinding => ({
  check,
  state: 'unknown',
  says,
  ...(todo !== undefined && { todo }),
});
export const problem = (check: string, says: string, todo: string): DoctorFinding => ({
  check,
  state: 'problem',
  says,
  todo,
});

/** The first five names in order, and how many more there are. */
export const namesText = (names: readonly string[]): string => firstOf(names.toSorted(), 5);
