import type { Doc } from './docs.ts';

type Docs = Readonly<Record<string, Doc>>;
type Values = Readonly<Record<string, unknown>>;

/** Values whose inner values are listed one by one. Others are listed as a whole. */
const GROUPS = new Set([
  'image',
  'logging',
  'agent',
  'apiserver',
  'controller',
  'certificates',
  'networkPolicies',
  'notifications',
  'monitors',
  'alerts',
  'dashboard',
  'peopleRoles',
  'global',
]);

/** The chart's README, with a table of all values. */
export function readme(docs: Docs, initial: Values): string {
  const rows = Object.entries(docs)
    .filter(([path]) => isValue(path, initial))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, doc]) => `| \`${path}\` | ${fallbackOf(path, doc, initial)} | ${doc.text} |`);
  return `${INTRODUCTION}\n| value | default | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Whether the path is a value of the chart: a prop that the chart has, and no group. */
function isValue(path: string, initial: Values): boolean {
  const [first = ''] = path.split('.');
  return first in initial && !path.endsWith('.brupop') && !GROUPS.has(path);
}

function fallbackOf(path: string, { fallback }: Doc, values: Values): string {
  const initial = path.split('.').reduce<unknown>((inner, key) => (inner as Values | undefined)?.[key], values);
  if (initial !== undefined) return `\`${JSON.stringify(initial)}\``;
  return fallback ?? '';
}

const INTRODUCTION = `# brupop

An update operator for Bottlerocket nodes: it keeps every node on its newest offered version, drained first, rebooted, checked and released. The chart is written
out of the cdk8s constructs of the package \`cdk8s-brupop\`; every value has the name and the meaning of a prop there.

## Before

- Kubernetes 1.27 or newer, and cert-manager, unless \`certificates.kind\` is \`secret\`.
- A namespace of the operator's own that lets its agents run (a hostPath of type Socket, and an SELinux type):
  \`kubectl create namespace brupop-bottlerocket-aws\` and
  \`kubectl label namespace brupop-bottlerocket-aws pod-security.kubernetes.io/enforce=privileged\`.
- A label on each node that is to be updated: \`kubectl label node NODE bottlerocket.aws/updater-interface-version=2.0.0\`.

## To know

- \`helm install brupop CHART --namespace brupop-bottlerocket-aws\`. A cluster takes one release: roles and the CustomResourceDefinition exist once in it.
- After a release of another name or namespace: \`--take-ownership\`, once its record is gone. Over an installation that \`kubectl apply\` has made: \`--take-ownership --server-side=false\`.
- The CustomResourceDefinition is among the templates, because its conversion webhook names the release's namespace and it is upgraded with the rest. It, and the
  shadows with it, stay when the release is uninstalled (the notes say what to look at first): \`kubectl delete crd bottlerocketshadows.brupop.bottlerocket.aws\` is yours.
- Helm writes \`app.kubernetes.io/managed-by: Helm\` on every object itself, over \`brupop\`; pods keep \`brupop\`, and nothing selects by it.
- Values are checked by \`values.schema.json\`. Helm merges maps: to take away a default, such as \`agent.resources.limits.memory\`, set it to \`null\`. Any other value that is null or absent is its default.

## Values
`;

/** values.yaml, with what is said of each value. */
export function commentedValues(docs: Docs, initial: Values): string {
  return `# Each value is a prop of the constructs; README.md has them all in a table.\n${lines(initial, docs, []).join('\n')}\n`;
}

function lines(values: Values, docs: Docs, parents: readonly string[]): readonly string[] {
  const indent = '  '.repeat(parents.length);
  const found: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const path = [...parents, name];
    found.push(...wrapped(commentOf(docs[path.join('.')], value), `${indent}# `));
    if (value === undefined) found.push(`${indent}# ${name}:`);
    else if (!GROUPS.has(path.join('.'))) found.push(`${indent}${name}: ${JSON.stringify(value)}`);
    else found.push(`${indent}${name}:`, ...lines(value as Values, docs, path));
  }
  return found;
}

function commentOf(doc: Doc | undefined, value: unknown): string {
  const { text = '', fallback = 'none' } = doc ?? {};
  return value === undefined ? `${text} Default: ${fallback}.` : text;
}

const WIDTH = 120;

/** A comment in lines of bearable length. */
function wrapped(text: string, prefix: string): readonly string[] {
  const found: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const last = found.at(-1);
    if (last === undefined || last.length + word.length >= WIDTH) found.push(`${prefix}${word}`);
    else found[found.length - 1] = `${last} ${word}`;
  }
  return found;
}
