import { isDeepStrictEqual } from 'node:util';
import type { UpdatePolicyObject } from '../../api/resources.ts';
import { instantOf } from '../../lib/clock.ts';
import { PAUSED_ANNOTATION } from '../../api/shadow/names.ts';
import { parsePolicy } from '../../api/policy/parse.ts';
import type { InvalidPolicy, UpdatePolicy } from '../../api/policy/policy.ts';
import { type ControllerConfig, policyOf, scheduleOf } from '../config.ts';
import type { PolicyResource, PolicyView, ValidPolicy } from '../plan/facts/policies.ts';
import { compare } from '../plan/facts/snapshot.ts';
import { daily, longestOpening, type Schedule } from '../deciding/schedule/schedule.ts';
import { windowsSchedule } from '../deciding/schedule/windows.ts';

/**
 * Policies as plans see them. A spec is parsed once. An unchanged policy is the same object as before, so that plans need not find out anew which
 * nodes it selects.
 */
export class PolicyViews {
  readonly #variables: Rules;
  /** By UID. */
  #known: ReadonlyMap<string, Known> = new Map();
  #views: readonly PolicyView[] = [];

  /** @param config the policy of last resort, and the values of fields that a policy omits */
  constructor(config: ControllerConfig) {
    this.#variables = rulesOf(policyOf(config), scheduleOf(config));
  }

  /**
   * By name, and that of the variables last. @param now milliseconds since the Unix epoch
   * @param others policies that come from other objects, by name
   */
  at(objects: Iterable<UpdatePolicyObject>, now: number, others: readonly UpdatePolicy[] = []): readonly PolicyView[] {
    const known = [...objects].map((object) => this.#read(object));
    this.#known = new Map(known.map((one) => [one.object.metadata.uid, one]));
    known.sort((a, b) => compare(a.object.metadata.name, b.object.metadata.name));
    const rules = [...others.map((policy) => ({ ...this.#variables, policy })), this.#variables];
    const views = [...known.map((one) => viewOf(one, now)), ...rules.map((one) => validView(one, undefined, now))];
    const last = this.#views;
    const isChanged = views.length !== last.length || views.some((view, index) => !isSame(view, last[index]));
    if (isChanged) this.#views = views;
    return this.#views;
  }

  #read(object: UpdatePolicyObject): Known {
    const last = this.#known.get(object.metadata.uid);
    if (last && isDeepStrictEqual(last.object, object)) return last;
    const isUnchanged = last !== undefined && isDeepStrictEqual(saidBy(last.object), saidBy(object));
    return { object, resource: resourceOf(object), rules: isUnchanged ? last.rules : this.#rulesOf(object) };
  }

  #rulesOf(object: UpdatePolicyObject): Rules | InvalidRules {
    const { policy: defaults, schedule } = this.#variables;
    const policy = parsePolicy(object, defaults);
    if ('faults' in policy) return { kind: 'broken', policy };
    return rulesOf(policy, policy.windows ? windowsSchedule(policy.windows) : schedule);
  }
}

/** What rules are made of. */
const saidBy = ({ spec, metadata }: UpdatePolicyObject) => [spec, metadata.annotations?.[PAUSED_ANNOTATION]];

interface Rules {
  readonly kind: 'valid';
  readonly policy: UpdatePolicy;
  readonly schedule: Schedule;
  /** How long any window ahead is open at most, where updates have to fit into one. */
  readonly longest: ((now: number) => number | undefined) | undefined;
}

const rulesOf = (policy: UpdatePolicy, schedule: Schedule): Rules => ({
  kind: 'valid',
  policy,
  schedule,
  longest: policy.mustFit ? daily((now) => longestOpening(schedule, now)) : undefined,
});

interface InvalidRules {
  readonly kind: 'broken';
  readonly policy: InvalidPolicy;
}

interface Known {
  readonly object: UpdatePolicyObject;
  readonly rules: Rules | InvalidRules;
  readonly resource: PolicyResource;
}

function resourceOf({
  metadata: { uid, resourceVersion, generation = 0, creationTimestamp },
  status,
}: UpdatePolicyObject): PolicyResource {
  return { uid, resourceVersion, generation, createdAt: instantOf(creationTimestamp), status: status ?? undefined };
}

function viewOf({ rules, resource }: Known, now: number): PolicyView {
  return rules.kind === 'valid'
    ? validView(rules, resource, now)
    : { kind: rules.kind, policy: rules.policy, resource };
}

function validView(
  { policy, schedule, longest }: Rules,
  resource: PolicyResource | undefined,
  now: number,
): ValidPolicy {
  const view = { kind: 'valid', policy, window: schedule.at(now), resource } as const;
  return longest ? { ...view, longestWindowMs: longest(now) } : view;
}

function isSame(view: PolicyView, last: PolicyView | undefined): boolean {
  if (view.policy !== last?.policy || view.resource !== last.resource) return false;
  if (view.kind === 'broken' || last.kind === 'broken') return true;
  return view.longestWindowMs === last.longestWindowMs && isDeepStrictEqual(view.window, last.window);
}
