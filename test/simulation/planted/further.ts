import type { Mutant } from '../../mutants/mutant.ts';
import { MUTANTS } from '../../mutants/register.ts';
import { furtherFailures } from './failures.ts';
import { furtherMarks } from './marks.ts';
import { furtherSlots } from './slots.ts';

/** Everything that the simulation has to find: the register, and what one process does wrong by itself. */
export const PLANTED: readonly Mutant[] = [...MUTANTS, ...furtherSlots, ...furtherMarks, ...furtherFailures];
