import { agentEnv } from '../../../runtime/agent/config.ts';
import { apiserverEnv } from '../../../runtime/apiserver/config.ts';
import { controllerEnv } from '../../../runtime/controller/config.ts';
import type { Manifest } from '../manifests.ts';

/** Fields that are the same empty and absent. */
const MAY_BE_EMPTY = new Set([
  'annotations',
  'imagePullSecrets',
  'limits',
  'hostNetwork',
  'nodeSelector',
  'podAffinity',
  'podAntiAffinity',
  'priorityClassName',
  'requests',
  'commonName',
  'secretTemplate',
  'subject',
  'preferredDuringSchedulingIgnoredDuringExecution',
  'tolerations',
  'topologySpreadConstraints',
]);

/** What the definition has for Helm alone. */
const KEEP = 'helm.sh/resource-policy';

/** Names of the objects, each with what it says: also of a process, to which an absent variable is its default. */
export function meaning(objects: readonly Manifest[]): Map<string, unknown> {
  return new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, plain(object)]));
}

const DEFAULTS: Readonly<Record<string, { readonly default?: string }>> = {
  ...agentEnv,
  ...apiserverEnv,
  ...controllerEnv,
};

function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const fields = Object.entries(node).map(([key, value]) => [key, said(key, value)] as const);
  const isEmpty = (value: unknown) =>
    value === '' || value === false || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return Object.fromEntries(
    fields.filter(([key, value]) => key !== KEEP && !(MAY_BE_EMPTY.has(key) && isEmpty(value))),
  );
}

function said(key: string, value: unknown): unknown {
  if (key === 'env') return variables(value as Parameters<typeof variables>[0]);
  return plain(key.endsWith('.json') ? JSON.parse(String(value)) : value);
}

function variables(env: readonly { readonly name: string; readonly value?: string }[]): unknown {
  const stated = env.filter(({ name, value }) => value !== '' && (value ?? '*') !== DEFAULTS[name]?.default);
  return stated.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
