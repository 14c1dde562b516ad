import type { PhaseKind } from './phase.ts';

/** The step of a node that is being updated, as people are told it. */
export const STEPS = ['staging', 'staged', 'draining', 'rebooting', 'soaking', 'returning'] as const;
export type Step = (typeof STEPS)[number];

/** What each is called on a screen and in messages. */
export const STEP_WORDS: Readonly<Record<Step, string>> = {
  staging: 'staging',
  staged: 'staged',
  draining: 'draining',
  rebooting: 'rebooting',
  soaking: 'checking',
  returning: 'ending',
};

interface Updated {
  readonly node: { readonly marks: { readonly drained?: string | undefined } | undefined };
  readonly phase: { readonly kind: PhaseKind };
}

/** Once its pods are gone, the host goes down at any moment. */
export const stepOf = ({ node, phase: { kind } }: Updated): Step =>
  kind === 'draining' && node.marks?.drained !== undefined ? 'rebooting' : (STEP_OF[kind] ?? 'returning');

const STEP_OF: Readonly<Partial<Record<PhaseKind, Step>>> = {
  staging: 'staging',
  staged: 'staged',
  asked: 'draining',
  draining: 'draining',
  rebooting: 'rebooting',
  monitoring: 'soaking',
};
