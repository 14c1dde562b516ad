import { type Component, selectorLabels } from '../labels.ts';
import { optional, value } from './settings.ts';
import { call, type Mapping, Operand, type Tree } from './template.ts';

/** A change of an object before it becomes a template, for values that are more than a scalar. */
export type Transform = (object: Mapping) => Mapping;

/** An object with another tree at a place. @param place keys, separated by slashes */
export function placed(tree: Tree | undefined, place: string, put: (before: Tree | undefined) => Tree): Mapping {
  const [key = '', ...rest] = place.split('/');
  const fields = (tree ?? {}) as Mapping;
  const inner = fields[key];
  const after = rest.length === 0 ? put(inner) : placed(inner, rest.join('/'), put);
  if (Array.isArray(tree))
    return tree.map((one: Tree, index) => (index === Number(key) ? after : one)) as unknown as Mapping;
  return { ...fields, [key]: after };
}

/** The tree at a place. */
export function at(tree: Tree | undefined, place: string): Tree | undefined {
  return place.split('/').reduce((inner, key) => (inner as Mapping | undefined)?.[key], tree);
}

/** Adds the user's labels and annotations to an object. The operator's own win. */
export const metadata: Transform = (object) => {
  const labelled = placed(object, 'metadata/labels', (own = {}) => call('merge', own, value('labels')));
  return placed(labelled, 'metadata/annotations', (own = {}) => call('merge', own, value('annotations')));
};

const POD = 'spec/template/spec';
const META = 'spec/template/metadata';
const RESOURCES = `${POD}/containers/0/resources`;
const AFFINITY = `${POD}/affinity`;

/**
 * Puts the user's values for the pods of a process in their places.
 * @param hasOwn whether they have resources and an anti-affinity of their own, whatever the user says
 */
export const pods =
  (component: Component, { hasOwn = false } = {}): Transform =>
  (workload) =>
    placesOf(component)
      .filter(([place]) => !(hasOwn && place === RESOURCES))
      .map(([place, put]): Place => [place, hasOwn && place === AFFINITY ? keepingApart(put) : put])
      .reduce<Mapping>((object, [place, put]) => placed(object, place, put), workload);

const keepingApart =
  (put: Place[1]): Place[1] =>
  (before) => ({ ...(put(before) as Mapping), podAntiAffinity: (before as Mapping)['podAntiAffinity'] as Tree });

type Place = readonly [place: string, put: (before: Tree | undefined) => Tree];

function placesOf(component: Component): readonly Place[] {
  const own = (name: string) => value(`${component}.${name}`);
  return [
    [`${META}/labels`, (before = {}) => call('merge', before, own('podLabels'), value('labels'))],
    [`${META}/annotations`, (before = {}) => call('merge', {}, own('podAnnotations'), before, value('annotations'))],
    [RESOURCES, () => own('resources')],
    [`${POD}/nodeSelector`, () => own('nodeSelector')],
    [`${POD}/tolerations`, (before = []) => call('concat', before, own('tolerations'))],
    [`${POD}/priorityClassName`, (before = '') => priority(component, before)],
    [AFFINITY, (before) => affinity(component, before as Mapping)],
    ...(component === 'agent' ? [] : [spread(component)]),
  ];
}

function priority(component: Component, own: Tree): Operand {
  return optional(`${component}.priorityClassName`, call('ternary', own, '', value('createPriorityClasses')));
}

function affinity(component: Component, { podAffinity = {}, podAntiAffinity = {}, ...rest }: Mapping): Mapping {
  return {
    ...rest,
    podAffinity: optional(`${component}.podAffinity`, podAffinity),
    podAntiAffinity: optional(`${component}.podAntiAffinity`, podAntiAffinity),
  };
}

/** A constraint without a selector is for the pods of the process. */
function spread(component: Component): Place {
  const selector = { matchLabels: selectorLabels(component) };
  const put = (own: Tree = []) => {
    const constraints = optional(`${component}.topologySpreadConstraints`, own);
    const { text } = call('include', 'brupop.spread', { constraints, selector });
    return new Operand(`(${text} | fromJsonArray)`);
  };
  return [`${POD}/topologySpreadConstraints`, put];
}
