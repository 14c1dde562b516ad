import type { Mutant } from './mutant.ts';

export const agentMutants: readonly Mutant[] = [];
