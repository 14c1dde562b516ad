import type { PhaseKind } from './phase.ts';

/** The step of a node that is being updated, as people are told it. */
export const STEPS = [
  'staging',
  'staged',
  'finishing',
  'draining',
  'rebooting',
  'soaking',
  'settling',
  'returning',
] as const;
export type Step = (typeof STEPS)[number];

/** What each is called on a screen and in messages. */
export const STEP_WORDS: Readonly<Record<Step, string>> = {
  staging: 'staging',
  staged: 'staged',
  finishing: 'finishing',
  draining: 'draining',
  rebooting: 'rebooting',
  soaking: 'checking',
  settling: 'settling',
  returning: 'ending',
};

interface Updated {
  readonly node: { readonly marks: { readonly drained?: string | undefined } | undefined };
  readonly phase: { readonly kind: PhaseKind };
  readonly health?: { readonly settling: 'waiting' | 'late' | 'failed' | undefined };
}

/** Once its pods are gone, the host goes down at any moment. */
export function stepOf({ node, phase: { kind }, health }: Updated): Step {
  if (kind === 'draining' && node.marks?.drained !== undefined) return 'rebooting';
  return health?.settling === 'waiting' ? 'settling' : (STEP_OF[kind] ?? 'returning');
}

const STEP_OF: Readonly<Partial<Record<PhaseKind, Step>>> = {
  staging: 'staging',
  staged: 'staged',
  asked: 'draining',
  finishing: 'finishing',
  draining: 'draining',
  rebooting: 'rebooting',
  monitoring: 'soaking',
};
