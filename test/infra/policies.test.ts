import { describe, expect, test } from '@jest/globals';
import { App, Chart } from 'cdk8s';
import * as fc from 'fast-check';
import { UpdatePolicy } from '../../infra/policy.ts';
import type { UpdatePolicyProps } from '../../infra/props/policies.ts';
import { policyCrdSchema } from '../../runtime/api/policy/schema.ts';
import { pruned, withDefaults } from '../../lab/sim/cluster/crd/shape.ts';
import { validate } from '../../lab/sim/cluster/crd/validate.ts';
import { faultsOf, read } from '../api/policy/policies.ts';
import { runs } from '../random.ts';
import { anyPolicy } from './any-policies.ts';
import { faults } from './faults.ts';
import { chartOf, find, type Manifest } from './manifests.ts';

const KIND = 'BottlerocketUpdatePolicy';
const SCHEMA = policyCrdSchema();

function synthesised(props: UpdatePolicyProps, namespace?: string): Manifest {
  const chart = new Chart(new App(), 'policies', { ...(namespace !== undefined && { namespace }) });
  expect(new UpdatePolicy(chart, 'Policy', props).name).toBe(props.name);
  return find(chart.toJson() as Manifest[], KIND, props.name);
}

describe('a policy', () => {
  test('is written as it is given, and lives in no namespace', () => {
    const spec = { nodeSelector: {}, windows: [], maxConcurrent: '10%', zones: { atOnce: 1 } } as const;
    expect(synthesised({ name: 'production', ...spec, priority: undefined }, 'elsewhere')).toEqual({
      apiVersion: 'brupop.bottlerocket.aws/v1alpha1',
      kind: KIND,
      metadata: { name: 'production' },
      spec,
    });
  });

  test('of any valid props is taken by the API server and means what it says to the controller', () => {
    fc.assert(
      fc.property(anyPolicy, (props) => {
        const { spec } = JSON.parse(JSON.stringify(synthesised(props))) as { readonly spec: object };
        expect(validate(SCHEMA, { spec })).toEqual([]);
        expect(faultsOf(spec, props.name)).toEqual([]);
      }),
      runs(60),
    );
  });

  test('names each fault of its props', () => {
    const chart = new Chart(new App(), 'policies');
    const props = {
      name: 'Prod',
      windows: [{ start: '0 0 2 * * * *', duration: '4 hours' }],
      proof: { nodes: 'all' },
      budget: 1,
    } as unknown as UpdatePolicyProps;
    expect(() => new UpdatePolicy(chart, 'Policy', props)).toThrow(
      expect.objectContaining({
        faults: expect.arrayContaining([
          'name: expected an object name (lower case letters, digits, "-" and ".", at most 253), got "Prod"',
          'nodeSelector: expected a label selector ({} selects every node), got nothing',
          'windows.0.start: expected five cron fields that match at some time, minute to day of the week, got "0 0 2 * * * *"',
          'windows.0.duration: expected a duration such as 90s, 45m or 1h30m, got "4 hours"',
          'proof.nodes: expected a whole number from 1 to 600 or a percentage, got "all"',
          'budget: expected no such prop',
        ]),
      }),
    );
    expect(chart.node.children).toEqual([]);
  });
});

/** A spec with something odd in one place, or in none. */
const anySpec = fc
  .tuple(
    anyPolicy,
    fc.nat(),
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(null, '', 'In', '0 0 30 2 *', -1)),
  )
  .map(([props, at, odd]) => replaced({ ...props, name: undefined }, at, odd));

/** `value` with the `at`-th of all its parts replaced. */
function replaced(whole: unknown, at: number, odd: unknown): unknown {
  const text = JSON.stringify(whole);
  let parts = 0;
  JSON.parse(text, (_, value: unknown) => (parts++, value));
  let index = 0;
  return JSON.parse(text, (_, value: unknown) => (index++ === at % parts ? odd : value)) as unknown;
}

test('whatever the API server takes as a policy is read, or the field that cannot be obeyed is named', () => {
  fc.assert(
    fc.property(anySpec, (spec) => {
      const known = pruned(SCHEMA, { spec }, { path: '', unknown: [] });
      const stored = withDefaults(SCHEMA, known) as { readonly spec?: unknown };
      fc.pre(validate(SCHEMA, stored).length === 0);
      const policy = read(stored.spec);
      if ('faults' in policy) {
        expect(policy.faults).not.toEqual([]);
        for (const fault of policy.faults) expect(fault).toMatch(/^spec(\.|\[)[^ ]*.*: expected .+/);
      }
      // A selector that cannot be read stops the fleet. All that a schema cannot say of one is how a label is called, and that it has a value.
      const unreadable = /^spec\.nodeSelector\.matchLabels\.?.*: expected a label (key|value .*, got null$)/;
      const named: unknown = expect.arrayContaining([expect.stringMatching(unreadable)]);
      if (!policy.selector) expect(policy).toHaveProperty('faults', named);
      expect(policy.priority).toBeDefined();
    }),
    runs(200),
  );
});

describe('the policies of an operator', () => {
  const test1 = { name: 'test', nodeSelector: { matchLabels: { pool: 'test' } } };
  const production = { name: 'production', nodeSelector: {}, after: ['test'] };

  test('come with it, and with its labels', () => {
    const chart = chartOf({ policies: [test1, { ...production, priority: -1 }], labels: { team: 'a' }, instance: 'x' });
    const objects = chart.toJson() as Manifest[];
    expect(objects.filter(({ kind }) => kind === KIND).map(({ metadata }) => metadata.name)).toEqual([
      'test',
      'production',
    ]);
    const { metadata, spec } = find(objects, KIND, 'production');
    expect(metadata.labels).toMatchObject({ team: 'a', 'app.kubernetes.io/instance': 'x' });
    expect(spec).toEqual({ nodeSelector: {}, after: ['test'], priority: -1 });
    expect(chart.brupop.warnings).toEqual([]);
  });

  test.each([
    [[{ ...production, after: ['tset'] }, test1], 'policies.0.after.0: expected one of production, test, got "tset"'],
    [[test1, test1], 'policies.1.name: expected a name that no other policy has, got "test"'],
    [[{ ...test1, after: ['test'] }], 'policies.0.after: expected other policies than itself, got a list'],
    [
      [{ ...test1, after: ['production'] }, production],
      'policies.0.after: expected no cycle (production, test wait for each other), got a list',
    ],
    [[{ ...test1, paused: 'yes' }], 'policies.0.paused: expected true or false, got "yes"'],
  ])('are checked together: %j', (policies, fault) => {
    expect(faults({ policies })).toEqual([fault]);
  });

  test('warn where two of one priority select the same nodes', () => {
    const warnings = (...policies: UpdatePolicyProps[]): readonly string[] => chartOf({ policies }).brupop.warnings;
    const warning = expect.stringMatching(/^policies test and \w+ have the same priority/);
    expect(warnings(test1, { ...test1, name: 'other' })).toEqual([warning]);
    expect(warnings(test1, { name: 'all', nodeSelector: {} })).toEqual([warning]);
    expect(warnings(test1, { ...test1, name: 'other', priority: 1 })).toEqual([]);
    expect(warnings(test1, { name: 'other', nodeSelector: { matchLabels: { pool: 'other' } } })).toEqual([]);
  });
});
