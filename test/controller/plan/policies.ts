import * as fc from 'fast-check';
import type { PolicyView, PolicyResource } from '../../../runtime/controller/plan/facts/policies.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import { minutes, moment, POLICY, type World } from './fleet.ts';
import { POOLS, rarely, ZONE } from './members.ts';
import { amount, windows, world } from './worlds.ts';

/** Fleets that several policies rule, some of which cannot be obeyed. */

const NAMES = ['a', 'b', 'c'] as const;
const NOBODY: readonly string[] = [];

const freezes = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc
        .tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }))
        .map(([from, long]) => ({ from: minutes(from), to: minutes(from + long), reason: `freeze of ${long} min` })),
      { minLength: 1, maxLength: 2 },
    ),
  },
);

const selector: fc.Arbitrary<UpdatePolicy['selector']> = fc.oneof(
  fc.constantFrom(...POOLS).map((pool) => ({ matchLabels: { pool } })),
  fc.subarray([...POOLS], { minLength: 1 }).map((values) => ({
    matchExpressions: [{ key: 'pool', operator: 'In' as const, values }],
  })),
  fc.constant({}),
);

const resource = (name: string): fc.Arbitrary<PolicyResource> =>
  fc.option(fc.constantFrom('1.0.0', '1.1.0', '1.2.0'), { nil: undefined, freq: 2 }).map((version) => ({
    uid: `policy-${name}`,
    generation: 1,
    resourceVersion: '7',
    status:
      version === undefined
        ? undefined
        : { releases: [{ family: 'aws-k8s-1.33/amd64', version, completedAt: moment(-60) }] },
  }));

const valid = (name: string): fc.Arbitrary<PolicyView> =>
  fc
    .record({
      selector,
      priority: fc.constantFrom(0, 0, 1, 2),
      paused: rarely,
      maxConcurrent: amount,
      maxFailed: amount,
      pauseBetweenMs: fc.constantFrom(0, 0, 600_000),
      minIntervalMs: fc.constantFrom(undefined, 600_000),
      completeWithinMs: fc.constantFrom(undefined, 3_600_000),
      zones: fc.constantFrom(1, 1, 2, Infinity).map((atOnce) => ({ key: ZONE, atOnce })),
      mustFit: rarely,
      prefersUpdated: fc.boolean(),
      freezes,
      proof: fc.record({
        nodes: amount,
        soakMs: fc.constantFrom(0, 300_000),
        widen: fc.constantFrom(undefined, undefined, 1, 2),
        per: fc.constantFrom(undefined, undefined, ZONE),
      }),
      after: fc.oneof(
        { weight: 3, arbitrary: fc.constant(NOBODY) },
        fc.subarray([...NAMES, 'unknown'], { maxLength: 2 }),
      ),
      soakMs: fc.constantFrom(0, 300_000),
      window: fc.oneof(fc.constant({ open: true, triggeredAt: undefined, changesAt: undefined }), windows),
      resource: resource(name),
    })
    .map(({ window, resource: of, ...policy }) => ({
      kind: 'valid',
      policy: Object.assign({}, POLICY, policy, { name, after: policy.after.filter((other) => other !== name) }),
      window,
      resource: of,
    }));

const broken = (name: string): fc.Arbitrary<PolicyView> =>
  fc.record({ selector: fc.option(selector, { nil: undefined }), of: resource(name) }).map(({ selector: one, of }) => ({
    kind: 'broken',
    policy: {
      name,
      faults: ['spec.maxFailed: expected a number, got "x"'],
      selector: one,
      priority: 1,
      checksAfter: false,
    },
    resource: of,
  }));

const policies: fc.Arbitrary<readonly PolicyView[]> = fc
  .subarray([...NAMES], { minLength: 1 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) => fc.oneof({ weight: 12, arbitrary: valid(name) }, { weight: 1, arbitrary: broken(name) })),
    ),
  );

/** A world under policies besides that of the variables. */
export const governed: fc.Arbitrary<World> = fc
  .tuple(world, policies)
  .map(([on, list]) => Object.assign({}, on, { policies: list }));

/** Under policies or without. */
export const anyWorld: fc.Arbitrary<World> = fc.oneof(world, governed);
