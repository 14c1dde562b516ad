import type { Mutant } from '../mutant.ts';

const HELD = {
  file: 'runtime/apiserver/drain/drain-set.ts',
  tests: ['test/apiserver/drain/drain-set.test.ts'],
} as const;

/** Which pods a drain leaves where they are. */
export const drainSetMutants: readonly Mutant[] = [
  {
    ...HELD,
    rule: 'a drain leaves what would come back at once',
    without: 'the control of its DaemonSet: a pod that it merely owns stays, and nothing makes it anew',
    find: 'owner.controller && owner.kind',
    replace: 'owner.kind',
  },
  {
    ...HELD,
    rule: 'a drain leaves what would come back at once',
    without: 'the effect of a toleration: a pod that the cordon keeps away stays',
    find: '  if (effect && effect !== CORDON_TAINT.effect) return false;\n',
    replace: '',
  },
  {
    ...HELD,
    rule: 'a drain leaves what would come back at once',
    without: 'the toleration of every taint: such a pod is evicted as often as it comes back',
    find: "  if (!key) return operator === 'Exists';\n",
    replace: '',
  },
  {
    rule: 'no host goes down under a pod',
    without: 'the control of its DaemonSet: a pod that it merely owns may be there',
    file: 'test/e2e/invariants.ts',
    find: "kind === 'DaemonSet' && controller)",
    replace: "kind === 'DaemonSet' || controller === null)",
    tests: ['test/e2e/invariants.test.ts'],
  },
];
