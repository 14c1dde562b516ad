import type { BrupopProps } from '../../infra/props/brupop.ts';
import { InvalidPropsError, settingsOf } from '../../infra/props/settings.ts';

/** What is wrong with props, a line each; JavaScript apps may give anything. */
export function faults(props: unknown): readonly string[] {
  try {
    settingsOf(props as BrupopProps);
  } catch (error) {
    if (error instanceof InvalidPropsError) return error.faults;
    throw error;
  }
  return [];
}
