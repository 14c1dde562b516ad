import { checkOf } from '../../../runtime/api/policy/checks.ts';
import { EMPTY, type Ledger } from '../../../runtime/api/release/ledger.ts';
import type { Decision } from '../../../runtime/api/release/model.ts';
import { entryKey } from '../../../runtime/controller/plan/facts/checks.ts';
import { ledgerObject, moment, type World } from './fleet.ts';

/** What stands in the ledger of 1.1.0. */

export const FAMILY = 'aws-k8s-1.33/amd64';
export const MET = { uid: '', met: '1 for 0s', provenAt: moment(-60) };

export const failureOf = (name: string, policy = '') =>
  [`uid-${name}`, { node: name, policy, attempt: `try-${name}`, reason: 'BootFailed', at: moment(-9) }] as const;
export const withLedger = (world: World, ledger: Partial<Ledger>, decision: Decision = 'Automatic'): World => {
  const release = { ...ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, ...ledger }), decision };
  return { ...world, releases: { objects: [release], refused: new Map(), seeds: false } };
};
export const failed = (...names: readonly string[]) => Object.fromEntries(names.map((name) => failureOf(name)));

export const SMOKE = checkOf({
  name: 'smoke',
  condition: { apiVersion: 'v1', kind: 'Node', name: 'a', type: 'Ready' },
});
const FAILED = {
  says: SMOKE.says,
  attempt: '',
  since: moment(-9),
  tries: 1,
  result: 'Failed',
  at: moment(-8),
} as const;
/** The check of a policy has failed on it. */
export const failedCheck = (policy = ''): Pick<Ledger, 'failures' | 'policies'> => ({
  failures: {
    [entryKey(policy, SMOKE)]: { node: 'check smoke', policy, attempt: 'one', reason: 'CheckFailed', at: moment(-8) },
  },
  policies: { [policy]: { checks: { smoke: FAILED } } },
});
