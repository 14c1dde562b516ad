import { type Component, selectorLabels } from '../labels.ts';
import { optional, value } from './settings.ts';
import { call, type Mapping, Operand, type Tree } from './template.ts';

/** A change of an object before it becomes a template, for values that are more than a scalar. */
export type Transform = (object: Mapping) => Mapping;

/** An object with another tree at a path. @param path keys, separated by slashes */
export function placed(tree: Tree | undefined, path: string, put: (before: Tree | undefined) => Tree): Mapping {
  const [key = '', ...rest] = path.split('/');
  const fields = (tree ?? {}) as Mapping;
  const inner = fields[key];
  const after = rest.length === 0 ? put(inner) : placed(inner, rest.join('/'), put);
  if (Array.isArray(tree))
    return tree.map((one: Tree, index) => (index === Number(key) ? after : one)) as unknown as Mapping;
  return { ...fields, [key]: after };
}

/** The tree at a path. */
export function at(tree: Tree | undefined, path: string): Tree | undefined {
  return path.split('/').reduce((inner, key) => (inner as Mapping | undefined)?.[key], tree);
}

/** Adds the user's labels and annotations to an object. The operator's own win. */
export const metadata: Transform = (object) => {
  const labelled = placed(object, 'metadata/labels', (own = {}) => call('merge', own, value('labels')));
  return placed(labelled, 'metadata/annotations', (own = {}) => call('merge', own, value('annotations')));
};

const POD = 'spec/template/spec';
const META = 'spec/template/metadata';
const CONTAINER = `${POD}/containers/0`;
const AFFINITY = `${POD}/affinity`;

interface Own {
  /** The value with their requests and limits. @default that of the process */
  readonly resources?: string;
  /** Whether they keep their anti-affinity, whatever the user says. @default false */
  readonly keepsApart?: boolean;
}

/** Puts the user's values for the pods of a process in their places. */
export const pods =
  (component: Component, own: Own = {}): Transform =>
  (workload) =>
    changed(workload, editsOf(component, own));

/** Puts the user's annotations of a Service in their place. */
export const service =
  (component: Component): Transform =>
  (object) =>
    placed(object, 'metadata/annotations', (own = {}) =>
      call('merge', {}, value(`${component}.serviceAnnotations`), own),
    );

/** An object with these edits. */
export function changed(object: Mapping, edits: readonly Edit[]): Mapping {
  return edits.reduce((before, [path, put]) => placed(before, path, put), object);
}

export type Edit = readonly [path: string, put: (before: Tree | undefined) => Tree];

function editsOf(component: Component, { resources = `${component}.resources`, keepsApart }: Own): readonly Edit[] {
  const own = (name: string) => value(`${component}.${name}`);
  return [
    ['metadata/labels', (before = {}) => call('merge', before, own('workloadLabels'))],
    ['metadata/annotations', () => call('merge', {}, own('workloadAnnotations'))],
    [`${META}/labels`, (before = {}) => call('merge', before, own('podLabels'), value('labels'))],
    [`${META}/annotations`, (before = {}) => call('merge', {}, own('podAnnotations'), before, value('annotations'))],
    [`${CONTAINER}/resources/requests`, (before = {}) => amounts(`${resources}.requests`, before)],
    [`${CONTAINER}/resources/limits`, (before = {}) => amounts(`${resources}.limits`, before)],
    [`${CONTAINER}/env`, (before = []) => call('concat', before, listed('brupop.env', own('env')))],
    [`${POD}/nodeSelector`, () => own('nodeSelector')],
    [`${POD}/tolerations`, (before = []) => joined(onCordoned(component, before), own('tolerations'))],
    [`${POD}/priorityClassName`, (before = '') => priority(component, before)],
    [AFFINITY, (before) => affinity(component, before as Mapping, keepsApart)],
    ...(component === 'agent' ? [UPDATE_STRATEGY] : [spread(component)]),
    ...(component === 'apiserver' ? NETWORK : []),
  ];
}

/** An amount may be a number, and is a text in the manifests. */
function amounts(path: string, own: Tree): Operand {
  return new Operand(`(include "brupop.amounts" ${optional(path, own).text} | fromJson)`);
}

/** Lists after each other. Of empty ones `concat` makes null. */
export function joined(...lists: readonly Tree[]): Operand {
  return call('default', [], call('concat', ...lists));
}

/** A list that a named template makes. */
export function listed(name: string, from: Tree): Operand {
  return new Operand(`(${call('include', name, from).text} | fromJsonArray)`);
}

/** The last of a Deployment's own is that of cordons. */
function onCordoned(component: Component, own: Tree): Tree {
  if (component === 'agent' || !Array.isArray(own)) return own;
  return joined(own.slice(0, -1), call('ternary', own.slice(-1), [], value('tolerateCordons')));
}

const UPDATE_STRATEGY: Edit = [
  'spec/updateStrategy',
  () =>
    call(
      'ternary',
      { type: 'OnDelete' },
      {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: value('agent.updateStrategy.maxUnavailable'), maxSurge: 0 },
      },
      call('eq', value('agent.updateStrategy.type'), 'OnDelete'),
    ),
];

const HOST_NETWORK = value('apiserver.hostNetwork');
const NETWORK: readonly Edit[] = [
  [`${POD}/hostNetwork`, () => HOST_NETWORK],
  [
    `${POD}/dnsPolicy`,
    () => optional('apiserver.dnsPolicy', call('ternary', 'ClusterFirstWithHostNet', 'ClusterFirst', HOST_NETWORK)),
  ],
];

function priority(component: Component, own: Tree): Operand {
  return optional(`${component}.priorityClassName`, call('ternary', own, '', value('createPriorityClasses')));
}

function affinity(component: Component, own: Mapping, keepsApart = false): Mapping {
  const { nodeAffinity, podAffinity = {}, podAntiAffinity = {} } = own;
  return {
    nodeAffinity: nodes(component, nodeAffinity as Mapping),
    podAffinity: optional(`${component}.podAffinity`, podAffinity),
    podAntiAffinity: keepsApart ? podAntiAffinity : optional(`${component}.podAntiAffinity`, podAntiAffinity),
  };
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** The user's terms are alternatives, so each of them has the operator's own requirements. */
function nodes(component: Component, own: Mapping): Mapping {
  const asked = `${component}.nodeAffinity`;
  const terms = optional(`${asked}.${REQUIRED}.nodeSelectorTerms`, [{ matchExpressions: [] }]);
  const required = at(own, `${REQUIRED}/nodeSelectorTerms/0/matchExpressions`) ?? [];
  return {
    [REQUIRED]: { nodeSelectorTerms: listed('brupop.nodeTerms', { own: required, terms }) },
    [PREFERRED]: joined(own[PREFERRED] ?? [], optional(`${asked}.${PREFERRED}`, [])),
  };
}

/** A constraint without a selector is for the pods of the process. */
function spread(component: Component): Edit {
  const selector = { matchLabels: selectorLabels(component) };
  const put = (own: Tree = []) => {
    const constraints = optional(`${component}.topologySpreadConstraints`, own);
    return listed('brupop.spread', { constraints, selector });
  };
  return [`${POD}/topologySpreadConstraints`, put];
}
