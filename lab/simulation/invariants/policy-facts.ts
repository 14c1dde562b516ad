import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { BEGINS_AT, type Instant } from '../types.ts';
import { at, list, once, text } from './facts.ts';
import { type Quantity, quantity, type Rounding } from './settings.ts';

type Labels = Readonly<Record<string, string>>;

/** What a policy resource says; undefined where it says nothing, and the variables hold. Times are milliseconds since the simulation began. */
export type PolicyFacts = Readonly<ReturnType<typeof policyFacts>>;

export const policyFacts = once((policy) => {
  const spec = at(policy, 'spec');
  const { name } = policy.metadata;
  const after = list(at(spec, 'after')).map(String);
  const freezes = list(at(spec, 'freezes')).map(freezeIn);
  return {
    ...timesIn(spec),
    name,
    priority: Number(at(spec, 'priority') ?? 0),
    selects: selector(at(spec, 'nodeSelector')),
    /** Nobody can obey it. */
    broken:
      after.includes(name) ||
      freezes.some(({ from, to }) => !(from < to)) ||
      !list(at(spec, 'windows')).every(isWindow),
    paused: at(spec, 'paused') === true,
    maxConcurrent: stated(at(spec, 'maxConcurrent'), 'concurrent'),
    maxFailed: stated(at(spec, 'maxFailed'), 'failed'),
    freezes,
    proofNodes: stated(at(spec, 'proof', 'nodes'), 'proving'),
    proofSoakMs: durationMs(at(spec, 'proof', 'soak')) ?? 0,
    letsFinish: letsFinishIn(at(spec, 'drain')),
    settleMs: durationMs(at(spec, 'settle')),
    after,
    rollsBack: at(spec, 'onFailure') === 'Rollback',
    prefersUpdated: at(spec, 'preferUpdated') === true,
    waitsForRoom: at(spec, 'capacity') === 'wait',
    widens: at(spec, 'proof', 'widen') != null,
    failsWorse: at(spec, 'proof', 'compare') === 'fail',
    minIntervalMs: durationMs(at(spec, 'minInterval')) ?? 0,
    zones: {
      key: text(at(spec, 'zones', 'key')) ?? 'topology.kubernetes.io/zone',
      atOnce: Number(at(spec, 'zones', 'atOnce') ?? Infinity),
    },
    needsApproval: at(spec, 'approval') === 'Required',
    hasChecks: at(spec, 'proof', 'checks') != null || at(spec, 'checks') != null,
    /** `condition`, `taint`: by what it calls nodes unwell. */
    unwell: list(at(spec, 'unwell')).flatMap((sign) => Object.keys(sign as object)),
    version: versionIn(at(spec, 'version')),
  };
});

/** Whose work finishes on a node before its drain begins, and for how long at most. */
function letsFinishIn(drain: unknown) {
  if (drain == null) return undefined;
  const [pods, keepsPeace] = [at(drain, 'waitFor'), at(drain, 'honorDoNotDisrupt') === true];
  const selects = pods == null ? () => false : selector(pods);
  return {
    upToMs: durationMs(at(drain, 'upTo')) ?? 0,
    selects: ({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean =>
      selects(labels) || (keepsPeace && annotations['karpenter.sh/do-not-disrupt'] === 'true'),
  };
}

function versionIn(version: unknown) {
  const max = text(at(version, 'max'));
  return {
    minAgeMs: durationMs(at(version, 'minAge')) ?? 0,
    max: max === 'latest' ? undefined : max,
    exact: text(at(version, 'exact')),
  };
}

function timesIn(spec: unknown) {
  const windows = at(spec, 'windows');
  const fit = at(spec, 'windowFit');
  return {
    pauseBetweenMs: durationMs(at(spec, 'pauseBetween')) ?? 0,
    // No window at all is always open.
    hasWindows: windows == null ? undefined : list(windows).length > 0,
    fits: fit == null ? undefined : fit === 'strict',
  };
}

function stated(value: unknown, rounding: Rounding): Quantity | undefined {
  return typeof value === 'string' || typeof value === 'number' ? quantity(String(value), rounding) : undefined;
}

/** Of `1h30m` and the like. */
function durationMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 };
  return value
    .split(/(?<=[hms])/)
    .map((part) => Number(part.slice(0, -1)) * (units[part.slice(-1)] ?? NaN))
    .reduce((sum, ms) => sum + ms, 0);
}

function freezeIn(freeze: unknown) {
  const instant = (key: string): Instant => Date.parse(text(at(freeze, key)) ?? '') - BEGINS_AT;
  return { from: instant('from'), to: instant('to') };
}

/** Of those that these worlds draw, two cannot be obeyed. */
function isWindow(window: unknown): boolean {
  return text(at(window, 'start'))?.startsWith('61') !== true && at(window, 'timeZone') !== 'Mars/Olympus';
}

/** Whether labels are those that a selector selects. */
export function selector(of: unknown): (labels: Labels) => boolean {
  const labels = Object.entries((at(of, 'matchLabels') ?? {}) as Labels);
  const expressions = list(at(of, 'matchExpressions'));
  return (present) =>
    labels.every(([key, value]) => present[key] === value) && expressions.every((one) => holds(one, present));
}

function holds(expression: unknown, present: Labels): boolean {
  const value = present[text(at(expression, 'key')) ?? ''];
  const isIn = value !== undefined && list(at(expression, 'values')).includes(value);
  const operators: Readonly<Record<string, boolean>> = {
    In: isIn,
    NotIn: !isIn,
    Exists: value !== undefined,
    DoesNotExist: value === undefined,
  };
  return operators[text(at(expression, 'operator')) ?? ''] ?? false;
}

/** Whether what a policy says is another than before; its status says nothing. */
export const saysOther = (before: KubeObject | undefined, after: KubeObject | undefined): boolean =>
  JSON.stringify(at(before, 'spec')) !== JSON.stringify(at(after, 'spec'));
