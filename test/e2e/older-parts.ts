import { COMPONENT_LABEL, GROUP, NAMESPACE } from '../../runtime/api/shadow/names.ts';

/** One component of the older implementation. */
export interface Part {
  /** Value of the component label. */
  readonly component: string;
  /** As accounts, roles and bindings have it in their names. */
  readonly account: string;
  readonly rules: readonly object[];
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): object => ({
  apiGroups: [group],
  resources,
  verbs,
});
const SHADOWS = ['bottlerocketshadows', 'bottlerocketshadows/status'];

export const AGENT: Part = {
  component: 'agent',
  account: 'agent',
  rules: [rule('', ['nodes'], ['get', 'list', 'watch']), rule(GROUP, SHADOWS, ['get', 'list', 'watch'])],
};
export const APISERVER: Part = {
  component: 'apiserver',
  account: 'apiserver',
  rules: [
    rule(GROUP, SHADOWS, ['create', 'get', 'list', 'patch', 'update', 'watch']),
    rule('', ['pods'], ['get', 'list', 'watch']),
    rule('', ['nodes'], ['get', 'list', 'patch']),
    rule('', ['pods/eviction'], ['create']),
  ],
};
export const CONTROLLER: Part = {
  component: 'brupop-controller',
  account: 'controller',
  rules: [
    rule(GROUP, SHADOWS, ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete']),
    rule('', ['nodes'], ['get', 'list', 'watch']),
  ],
};

/** On everything that belongs to a component. */
export function labels(component: string): Record<string, string> {
  const common = { 'app.kubernetes.io/managed-by': 'brupop', 'app.kubernetes.io/part-of': 'brupop' };
  return { ...common, 'app.kubernetes.io/component': component, [COMPONENT_LABEL]: component };
}

/** Metadata of its objects in the operator's namespace. */
export const inNamespace = (name: string, component: string) => ({
  name,
  namespace: NAMESPACE,
  labels: labels(component),
});
