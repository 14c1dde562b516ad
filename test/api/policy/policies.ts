import type { PolicyObject } from '../../../runtime/api/policy/model.ts';
import { NO_CHECKS } from '../../../runtime/api/policy/checks.ts';
import { parsePolicy } from '../../../runtime/api/policy/parse.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';

/** What the variables decide where nobody has set any. */
export const VARIABLES: UpdatePolicy = {
  name: undefined,
  selector: {},
  priority: -Infinity,
  paused: false,
  maxConcurrent: { kind: 'count', count: 1 },
  maxFailed: { kind: 'percent', percent: 10 },
  pauseBetweenMs: 0,
  zones: { key: 'topology.kubernetes.io/zone', atOnce: Infinity },
  windows: undefined,
  mustFit: false,
  freezes: [],
  version: { minAgeMs: 0, max: undefined, exact: undefined, ignoreWaves: false },
  proof: { nodes: { kind: 'count', count: 1 }, soakMs: 0 },
  checks: NO_CHECKS,
  after: [],
  afterExternal: [],
  needsApproval: false,
  rollsBack: false,
  waitsForRoom: false,
  unwell: [],
  prefersUpdated: false,
  soakMs: 0,
  letFinish: undefined,
  settleMs: 300_000,
  settleFails: false,
};

export const policyObject = (spec: unknown, name = 'production'): PolicyObject => ({ metadata: { name }, spec });

/** What a spec is read as, by the faults or by the value. */
export const read = (spec: unknown, defaults = VARIABLES) => parsePolicy(policyObject(spec), defaults);

export function faultsOf(spec: unknown, name?: string): readonly string[] {
  const policy = parsePolicy(policyObject(spec, name), VARIABLES);
  return 'faults' in policy ? policy.faults : [];
}
