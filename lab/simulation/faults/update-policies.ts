import { POLICY_PLURAL } from '../../../runtime/api/policy/names.ts';
import { GROUP } from '../../../runtime/api/shadow/names.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { selector } from '../invariants/policy-facts.ts';
import { broken, drawPolicy, drawTerms, freeze, type PolicySpec, POOL, POOLS, ZONE, ZONES } from '../policies.ts';
import type { Begun, FaultKind, Terms, World } from '../types.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { aimedAt, all, begun, fault, type Kinds, moments, onNode, oneOf } from './kind.ts';
import { hangs, refuses } from './policies.ts';

/** Where what a policy says decides: starts, the second gate, and what they count. */
const DECIDES = moments(
  'permit-taken spec-start spec-advance spec-call-off status-staged drain-asked drained reboot-asked status-rebooted status-idle status-error-reset permit-given-back shadow-created lease-takeover',
);

const LASTS = [10 * SECOND, HOUR] as const;
/** Of what a tool takes away and makes again. */
const FLICKERS = [200, 20 * SECOND] as const;
/** What stands for less than a minute is nobody's to know. */
const DECIDED = [2 * MINUTE, 30 * MINUTE] as const;

type Change = (
  spec: PolicySpec,
  terms: Terms & { readonly name: string; readonly world: World },
) => PolicySpec | undefined;

/** One of the policies that there are from the beginning is changed, most often of the struck node, and put back as it was. Nothing where there are none. */
const edits = (what: string, weight: number, lasts: readonly [number, number], change: Change) =>
  fault(what, weight, lasts, (world, terms) => {
    const policy = policyOf(world, terms);
    if (policy === undefined) return undefined;
    const { people } = world.environment;
    people.changePolicy(policy, (spec) => spec && change(spec, { ...terms, name: policy, world }));
    return begun(policy, () => people.changePolicy(policy, () => present(world)[policy]));
  });

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
  return begun(policy, () => people.changePolicy(policy, (spec) => spec ?? was));
}

/** Another one comes and goes. */
function creates(world: World, { random }: { readonly random: Random }): Begun | undefined {
  const { definedAt = Infinity } = world.scenario.policies;
  if (world.now <= definedAt) return undefined;
  const { people } = world.environment;
  const name = `extra-${Math.floor(random() * 3)}`;
  const made = drawPolicy(random, world.scenario.stormMs);
  people.changePolicy(name, () => made);
  return begun(name, () => people.changePolicy(name, () => undefined));
}

/** What every decision depends on, and policies may be away in two ways. */
const READ = [POLICY_PLURAL, POLICY_PLURAL, 'namespaces', 'nodes', 'bottlerocketshadows', 'pods'];

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
  const after = () => (policy === undefined ? undefined : present(world)[name]);
  return begun(name, () => people.changePolicy(name, after));
}

/** People take the nodes of one policy, or all, back from a release, and let them go there again. */
function rollsBack(world: World, terms: Terms): Begun | undefined {
  const { random } = terms;
  const { version } = oneOf(world.scenario.releases, random) ?? {};
  if (version === undefined) return undefined;
  const policy = random() < 0.5 ? policyOf(world, terms) : undefined;
  const { people } = world.environment;
  people.changeRelease(version, () => ({ rollbackFor: [policy ?? '*'] }));
  const end = (): void => people.changeRelease(version, () => ({ rollbackFor: [] }));
  return begun(`${version} for ${policy ?? 'all'}`, end);
}

/** Controllers' reads of one kind are refused, or that of policies is said not to be there, and who watches is told so at once. */
function unreadable({ network, processes }: World, { random }: { readonly random: Random }): Begun {
  const resource = oneOf(READ, random) ?? POLICY_PLURAL;
  // Something on the way says that there are no policies, and the API server does not say which kinds it has.
  const isDenied = resource === POLICY_PLURAL && random() < 0.5;
  const refused = (of: string, code: number) => ({ path: new RegExp(`/${of}$`), code });
  const answers = [refused(resource, isDenied ? 404 : 403), ...(isDenied ? [refused(GROUP, 403)] : [])];
  const ends = processes.flatMap(({ name, kind }) => {
    if (kind !== 'controller') return [];
    network.watches.drop(name, 'closed');
    return answers.map(({ path, code }) =>
      network.carriage.disturb(name, { kind: 'answered', code }, { method: 'GET', path }),
    );
  });
  return begun(resource, all(ends));
}

/** A label of a node becomes another, or none, and then what it was. */
const relabels =
  (draw: (random: Random) => readonly [key: string, value: string | null]): FaultKind['begin'] =>
  (world, terms) =>
    onNode(world, terms, (node) => {
      const { people } = world.environment;
      const [key, value] = draw(terms.random);
      const { [key]: was = null } = world.environment.labelsOf(node);
      people.relabel(node, { [key]: value });
      return () => people.relabel(node, { [key]: was });
    });

const STATUS = { resource: POLICY_PLURAL, subresource: 'status' } as const;

export const updatePolicyFaults: Kinds = aimedAt(DECIDES, {
  'policy-edited': edits('an update policy is edited', 4, LASTS, (spec, { random, world }) => ({
    ...spec,
    ...drawTerms(random, world.scenario.stormMs),
  })),
  'policy-pinned': fault(
    'an update policy takes other versions, or another policy does where there is none',
    3,
    DECIDED,
    pins,
  ),
  'rolled-back': fault('people take nodes back from a release, and let them go there again', 3, DECIDED, rollsBack),
  'policy-paused': edits('an update policy is paused', 2, DECIDED, (spec) => ({ ...spec, paused: true })),
  'policy-frozen': edits('an update policy gets a freeze', 3, DECIDED, (spec, { world: { now }, forMs }) => ({
    ...spec,
    freezes: [freeze(now, now + forMs + MINUTE)],
  })),
  'policy-broken': edits(
    'an update policy is edited into one that cannot be obeyed',
    2,
    LASTS,
    (spec, { random, name }) => broken(random, name, spec),
  ),
  'policy-flickers': fault(
    'a tool deletes an update policy and makes it again at once, as it was',
    2,
    FLICKERS,
    flickers,
  ),
  'policy-deleted': edits('an update policy is deleted, and made anew', 2, LASTS, () => undefined),
  'policy-created': fault('another update policy comes, and goes', 2, LASTS, creates),
  relabelled: fault(
    'a node gets other labels, and with them another policy or zone',
    4,
    LASTS,
    relabels((random) => {
      const [key, values] = random() < 0.6 ? [POOL, POOLS] : [ZONE, ZONES];
      return [key, random() < 0.2 ? null : (oneOf<string>(values, random) ?? null)];
    }),
  ),
  'labels-flicker': fault(
    'a tool takes the label away by which policies select a node, and sets it again at once',
    2,
    FLICKERS,
    relabels(() => [POOL, null]),
  ),
  'kind-unreadable': fault(
    'controllers may not read one of the kinds on which they decide: 403, or 404 of policies',
    2,
    [MINUTE, 3 * HOUR],
    unreadable,
  ),
  'policy-status-refused': fault(
    'the status of update policies is refused: 403',
    1,
    [5 * SECOND, HOUR],
    ({ cluster }) => begun('everybody', refuses(cluster, STATUS)),
  ),
  'policy-status-hangs': fault(
    'writes of the status of update policies hang',
    1,
    [3 * SECOND, 90 * SECOND],
    ({ cluster }) => begun('everybody', hangs(cluster, STATUS)),
  ),
});
