import { POLICY_PLURAL } from '../../../runtime/api/policy/names.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { selector } from '../invariants/policy-facts.ts';
import type { Moment } from '../moment-names.ts';
import { broken, drawPolicy, drawTerms, freeze, type PolicySpec, POOL, POOLS, ZONE, ZONES } from '../policies.ts';
import type { Begun, World } from '../types.ts';
import { all, type DrawnKind, HOUR, MINUTE, onNode, oneOf, SECOND, type Terms } from './kind.ts';

/** Where what a policy says decides: starts, the second gate, and what they count. */
const DECIDES: readonly Moment[] = [
  'permit-taken',
  'spec-start',
  'spec-advance',
  'spec-call-off',
  'status-staged',
  'drain-asked',
  'drained',
  'reboot-asked',
  'status-rebooted',
  'status-idle',
  'status-error-reset',
  'permit-given-back',
  'shadow-created',
  'lease-takeover',
];

const LASTS = [10 * SECOND, HOUR] as const;
/** Of what a tool takes away and makes again. */
const FLICKERS = [200, 20 * SECOND] as const;
/** What stands for less than a minute is nobody's to know. */
const DECIDED = [2 * MINUTE, 30 * MINUTE] as const;

type Change = (spec: PolicySpec, terms: Terms & { readonly name: string; readonly world: World }) => PolicySpec;

/** One of the policies that there are from the beginning is changed, most often of the struck node, and put back as it was. Nothing where there are none. */
function edits(
  name: string,
  { what, weight, lasts = LASTS }: { what: string; weight: number; lasts?: readonly [number, number] },
  change: Change | 'delete',
): DrawnKind {
  return {
    name,
    what,
    weight,
    lasts,
    aim: DECIDES,
    begin: (world, terms) => {
      const policy = policyOf(world, terms);
      if (policy === undefined) return undefined;
      const { people } = world.environment;
      people.changePolicy(policy, (spec) =>
        change === 'delete' ? undefined : spec && change(spec, { ...terms, name: policy, world }),
      );
      return { about: policy, end: () => people.changePolicy(policy, () => present(world)[policy]) };
    },
  };
}

function policyOf(world: World, { random, struck }: Terms): string | undefined {
  const policies = Object.entries(present(world));
  const labels = struck?.node === undefined ? undefined : world.environment.labelsOf(struck.node);
  const selecting = policies.filter(([, spec]) => labels && selector(spec['nodeSelector'])(labels));
  const isAimed = random() < 0.8 && selecting.length > 0;
  return oneOf(isAimed ? selecting : policies, random)?.[0];
}

function present({ now, scenario: { policies } }: World): World['scenario']['policies']['policies'] {
  return now > (policies.definedAt ?? Infinity) ? policies.policies : {};
}

function flickers(world: World, terms: Terms): Begun | undefined {
  const policy = policyOf(world, terms);
  if (policy === undefined) return undefined;
  const { people } = world.environment;
  let was: PolicySpec | undefined;
  people.changePolicy(policy, (spec) => {
    was = spec;
    return undefined;
  });
  return { about: policy, end: () => people.changePolicy(policy, (spec) => spec ?? was) };
}

/** Another one comes and goes. */
function creates(world: World, { random }: { readonly random: Random }): Begun | undefined {
  const { definedAt = Infinity } = world.scenario.policies;
  if (world.now <= definedAt) return undefined;
  const { people } = world.environment;
  const name = `extra-${Math.floor(random() * 3)}`;
  const made = drawPolicy(random, world.scenario.stormMs);
  people.changePolicy(name, () => made);
  return { about: name, end: () => people.changePolicy(name, () => undefined) };
}

/** What every decision depends on. */
const READ = [POLICY_PLURAL, 'namespaces', 'nodes', 'bottlerocketshadows', 'pods'];

/** Each that may be offered is drawn alike, and so are ways back. */
function pins(world: World, terms: Terms): Begun | undefined {
  const { random } = terms;
  const { definedAt = Infinity } = world.scenario.policies;
  const { version: one } = oneOf(world.scenario.releases, random) ?? {};
  if (world.now <= definedAt || one === undefined) return undefined;
  const limit = oneOf([{ exact: one }, { exact: one }, { max: one }, {}], random);
  const version = { ...limit, ...(random() < 0.3 && { ignoreWaves: true }) };
  const policy = policyOf(world, terms);
  const { people } = world.environment;
  const name = policy ?? 'pinned';
  people.changePolicy(name, (spec) => spec && { ...spec, version });
  if (policy === undefined) people.changePolicy(name, (spec) => spec ?? { nodeSelector: {}, version });
  return {
    about: name,
    end: () => people.changePolicy(name, () => (policy === undefined ? undefined : present(world)[name])),
  };
}

/** People take the nodes of one policy, or all, back from a release, and let them go there again. */
function rollsBack(world: World, terms: Terms): Begun | undefined {
  const { random } = terms;
  const { version } = oneOf(world.scenario.releases, random) ?? {};
  if (version === undefined) return undefined;
  const policy = random() < 0.5 ? policyOf(world, terms) : undefined;
  const { people } = world.environment;
  people.changeRelease(version, () => ({ rollbackFor: [policy ?? '*'] }));
  return {
    about: `${version} for ${policy ?? 'all'}`,
    end: () => people.changeRelease(version, () => ({ rollbackFor: [] })),
  };
}

/** Controllers' reads of one kind are refused, and who watches is told so at once. */
function unreadable({ network, processes }: World, { random }: { readonly random: Random }): Begun {
  const resource = oneOf(READ, random) ?? POLICY_PLURAL;
  const ends = processes.flatMap(({ name, kind }) => {
    if (kind !== 'controller') return [];
    network.dropWatches(name, 'closed');
    const path = new RegExp(`/${resource}$`);
    return [network.disturb(name, { kind: 'answered', code: 403 }, { method: 'GET', path })];
  });
  return { about: resource, end: all(ends) };
}

/** A label of a node becomes another, or none, and then what it was. */
const relabels =
  (draw: (random: Random) => readonly [key: string, value: string | null]): DrawnKind['begin'] =>
  (world, terms) =>
    onNode(world, terms, (node) => {
      const { people } = world.environment;
      const [key, value] = draw(terms.random);
      const { [key]: was = null } = world.environment.labelsOf(node);
      people.relabel(node, { [key]: value });
      return () => people.relabel(node, { [key]: was });
    });

export const updatePolicyFaults: readonly DrawnKind[] = [
  edits('policy-edited', { what: 'an update policy is edited', weight: 4 }, (spec, { random, world }) => ({
    ...spec,
    ...drawTerms(random, world.scenario.stormMs),
  })),
  {
    name: 'policy-pinned',
    what: 'an update policy takes other versions, or another policy does where there is none',
    weight: 3,
    lasts: DECIDED,
    aim: DECIDES,
    begin: pins,
  },
  {
    name: 'rolled-back',
    what: 'people take nodes back from a release, and let them go there again',
    weight: 3,
    lasts: DECIDED,
    aim: DECIDES,
    begin: rollsBack,
  },
  edits('policy-paused', { what: 'an update policy is paused', weight: 2, lasts: DECIDED }, (spec) => ({
    ...spec,
    paused: true,
  })),
  edits(
    'policy-frozen',
    { what: 'an update policy gets a freeze', weight: 3, lasts: DECIDED },
    (spec, { world, forMs }) => ({
      ...spec,
      freezes: [freeze(world.now, world.now + forMs + MINUTE)],
    }),
  ),
  edits(
    'policy-broken',
    { what: 'an update policy is edited into one that cannot be obeyed', weight: 2 },
    (spec, { random, name }) => broken(random, name, spec),
  ),
  {
    name: 'policy-flickers',
    what: 'a tool deletes an update policy and makes it again at once, as it was',
    weight: 2,
    lasts: FLICKERS,
    aim: DECIDES,
    begin: flickers,
  },
  edits('policy-deleted', { what: 'an update policy is deleted, and made anew', weight: 2 }, 'delete'),
  {
    name: 'policy-created',
    what: 'another update policy comes, and goes',
    weight: 2,
    lasts: LASTS,
    aim: DECIDES,
    begin: creates,
  },
  {
    name: 'relabelled',
    what: 'a node gets other labels, and with them another policy or zone',
    weight: 4,
    lasts: LASTS,
    aim: DECIDES,
    begin: relabels((random) => {
      const [key, values] = random() < 0.6 ? [POOL, POOLS] : [ZONE, ZONES];
      return [key, random() < 0.2 ? null : (oneOf<string>(values, random) ?? null)];
    }),
  },
  {
    name: 'labels-flicker',
    what: 'a tool takes the label away by which policies select a node, and sets it again at once',
    weight: 2,
    lasts: FLICKERS,
    aim: DECIDES,
    begin: relabels(() => [POOL, null]),
  },
  {
    name: 'kind-unreadable',
    what: 'controllers may not read one of the kinds on which they decide: 403',
    weight: 2,
    lasts: [MINUTE, 3 * HOUR],
    aim: DECIDES,
    begin: unreadable,
  },
  ...(['refused', 'hangs'] as const).map((how): DrawnKind => ({
    name: `policy-status-${how}`,
    what: how === 'refused' ? 'the status of update policies is refused: 403' : 'writes of it hang',
    weight: 1,
    lasts: how === 'refused' ? [5 * SECOND, HOUR] : [3 * SECOND, 90 * SECOND],
    aim: DECIDES,
    begin: ({ cluster }) => {
      const status = { verbs: ['update', 'patch'], resource: POLICY_PLURAL, subresource: 'status' };
      const refused = { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'a policy says no' } as const;
      const end = cluster.disturb(status, how === 'refused' ? refused : { kind: 'hang' });
      return { about: 'everybody', end };
    },
  })),
];
