import { withoutNulls } from '../../lib/json.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import type { LetFinish } from '../shadow/let-finish.ts';
import { askedIn } from '../shadow/asked.ts';
import { PAUSED_ANNOTATION } from '../shadow/names.ts';
import { shown } from '../shadow/parse.ts';
import { checkOf, type Checks } from './checks.ts';
import { durationMs } from './duration.ts';
import type { PolicyObject } from './model.ts';
import type {
  Freeze,
  InvalidPolicy,
  ProofRules,
  UpdatePolicy,
  UpdateWindow,
  VersionRules,
  ZoneRules,
} from './policy.ts';
import { ANY_COUNT, COUNT_AT_ONCE, limit, PROOF_NODES, type Quantity, type QuantityKind } from './quantity.ts';
import { policyFields, type PolicySpec, policySpec } from './spec.ts';
import { signsOf, type UnwellSign } from './signs.ts';
import { limitOf } from './version.ts';

/**
 * Reads a policy. A field that is missing or null has the value of `defaults`, which come from the controller's variables. Where fields do not fit,
 * each fault is named by its path.
 */
export function parsePolicy({ metadata, spec }: PolicyObject, defaults: UpdatePolicy): UpdatePolicy | InvalidPolicy {
  const { name } = metadata;
  // A null in `matchLabels` stays, and is a fault: without that label more nodes would be selected.
  const present = withoutNulls(spec, 'matchLabels') ?? {};
  const result = policySpec.safeParse(present);
  const faults = result.success
    ? selfFaults(name, result.data)
    : result.error.issues.flatMap((issue) => faultsOf(issue, present));
  if (result.success && faults.length === 0)
    return { ...policyOf(name, result.data, defaults), ...(result.data.paused && pausedBy(metadata)) };
  const { nodeSelector, priority, checks } = present as Partial<Record<keyof PolicySpec, unknown>>;
  return {
    name,
    faults,
    selector: policyFields.nodeSelector.safeParse(nodeSelector).data,
    priority: priority === undefined ? NO_PRIORITY : policyFields.priority.safeParse(priority).data,
    checksAfter: asksAfter(checks),
  };
}

/** By whom it was paused last. Whoever edits the spec by other means leaves the annotation as it is. */
const pausedBy = ({ annotations }: PolicyObject['metadata']): Pick<UpdatePolicy, 'pausedBy'> => ({
  pausedBy: askedIn(annotations?.[PAUSED_ANNOTATION]),
});

/** What cannot be read may ask something. */
function asksAfter(checks: unknown): boolean {
  const { after = [] } = (checks ?? {}) as { readonly after?: unknown };
  return !Array.isArray(after) || after.length > 0;
}

const NO_PRIORITY = 0;

type Issue = NonNullable<ReturnType<typeof policySpec.safeParse>['error']>['issues'][number];

function faultsOf(issue: Issue, spec: unknown): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: expected no such field`);
  // The message of a wrong key of a record is that of the key's own schema.
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const got = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    spec,
  );
  return [`${pathText(issue.path)}: ${message}, got ${shown(issue.code === 'invalid_key' ? issue.path.at(-1) : got)}`];
}

/** As the API server writes it: `spec.windows[0].start`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
    'spec',
  );
}

function selfFaults(name: string, { after = [] }: PolicySpec): string[] {
  const index = after.indexOf(name);
  return index < 0 ? [] : [`spec.after[${index}]: expected another policy, got its own name`];
}

function policyOf(name: string, spec: PolicySpec, defaults: UpdatePolicy): UpdatePolicy {
  const stated = {
    paused: spec.paused,
    maxConcurrent: quantityOf(limit(COUNT_AT_ONCE), spec.maxConcurrent),
    maxFailed: quantityOf(limit(ANY_COUNT), spec.maxFailed),
    pauseBetweenMs: msOf(spec.pauseBetween),
    minIntervalMs: msOf(spec.minInterval),
    completeWithinMs: msOf(spec.completeWithin),
    zones: zonesOf(spec.zones, defaults.zones),
    windows: spec.windows?.map(windowOf),
    mustFit: isSaid('strict', spec.windowFit),
    freezes: spec.freezes?.map(freezeOf),
    version: versionOf(spec.version, defaults.version),
    proof: proofOf(spec.proof, defaults.proof),
    checks: checksOf(spec),
    after: spec.after?.filter((one) => typeof one === 'string'),
    afterExternal: spec.after?.flatMap((one) => (typeof one === 'string' ? [] : one.external)),
    needsApproval: isSaid('Required', spec.approval),
    rollsBack: isSaid('Rollback', spec.onFailure),
    waitsForRoom: isSaid('wait', spec.capacity),
    unwell: spec.unwell?.flatMap((one) => signsOf(one as UnwellSign)),
    prefersUpdated: spec.preferUpdated,
    soakMs: msOf(spec.nodeSoak),
    letFinish: spec.drain && letFinishOf(spec.drain),
    settleMs: msOf(spec.settle),
    settleFails: spec.settleFails,
  };
  return {
    ...defaults,
    name,
    selector: spec.nodeSelector,
    priority: spec.priority ?? NO_PRIORITY,
    ...defined(stated),
  };
}

/** The fields that have a value. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const values = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(values) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Of a field that has two words or more; undefined where it has none. */
const isSaid = (word: string, said: string | boolean | undefined): boolean | undefined =>
  said === undefined ? undefined : said === word;

function quantityOf(kind: QuantityKind, value: number | string | undefined): Quantity | undefined {
  return value === undefined ? undefined : kind.parse(String(value));
}

function msOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : durationMs(duration);
}

function zonesOf({ key, atOnce }: NonNullable<PolicySpec['zones']> = {}, defaults: ZoneRules): ZoneRules {
  const limited = atOnce === 'unlimited' ? Infinity : atOnce;
  return { key: key ?? defaults.key, atOnce: limited ?? defaults.atOnce };
}

function windowOf({ start, duration, timeZone }: NonNullable<PolicySpec['windows']>[number]): UpdateWindow {
  return { start, durationMs: durationMs(duration) ?? 0, timeZone: timeZone ?? 'UTC' };
}

function freezeOf({ from, to, reason, exceptExpedited }: NonNullable<PolicySpec['freezes']>[number]): Freeze {
  return { from: Date.parse(from), to: Date.parse(to), reason: reason || 'a freeze', exceptExpedited };
}

function versionOf(
  { minAge, max, exact, ignoreWaves }: NonNullable<PolicySpec['version']> = {},
  defaults: VersionRules,
): VersionRules {
  const highest = max === undefined ? defaults.max : limitOf(max);
  return {
    minAgeMs: msOf(minAge) ?? defaults.minAgeMs,
    max: exact === undefined ? highest : undefined,
    exact,
    ignoreWaves: ignoreWaves ?? defaults.ignoreWaves,
  };
}

function proofOf(
  { nodes, soak, per, widen, compare }: NonNullable<PolicySpec['proof']> = {},
  defaults: ProofRules,
): ProofRules {
  return {
    nodes: quantityOf(PROOF_NODES, nodes) ?? defaults.nodes,
    soakMs: msOf(soak) ?? defaults.soakMs,
    per,
    widen,
    failsWorse: isSaid('fail', compare),
  };
}

const DAY_MS = 24 * HOUR_MS;

const letFinishOf = ({ waitFor, upTo, honorDoNotDisrupt }: NonNullable<PolicySpec['drain']>): LetFinish => ({
  pods: waitFor,
  doNotDisrupt: honorDoNotDisrupt === true,
  upToMs: msOf(upTo) ?? DAY_MS,
});

/** There are none that hold for the whole fleet. */
function checksOf({ proof, checks }: PolicySpec): Checks {
  const { before = [], after = [] } = checks ?? {};
  return { proof: (proof?.checks ?? []).map(checkOf), before: before.map(checkOf), after: after.map(checkOf) };
}
