import { globSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MANAGED_LABEL } from '../../../runtime/api/shadow/names.ts';
import { examples } from '../../../test/documents.ts';
import { kubectl } from '../../../test/e2e/kubectl.ts';
import { shell } from '../../../test/shell.ts';
import type { ClusterStage } from '../stage.ts';

/** What an installation could leave behind. */
export interface Footprint {
  /** By node: what is written on it, but for the label by which its administrator opted in. */
  readonly nodes: Readonly<Record<string, object>>;
  /** Objects of every kind by kind, namespace and name, but for pods and Events, which come and go with each drain. */
  readonly objects: readonly string[];
}

export async function footprint(): Promise<Footprint> {
  return { nodes: await markedNodes(), objects: await objectNames() };
}

/** The commands by which docs/deploying.md takes the operator away. */
export function documentedRemoval(): string {
  const [, commands = ''] = examples('docs/deploying.md', 'sh').find(([heading]) => heading === 'Taking it away') ?? [];
  return commands;
}

/** Runs commands of a removal, and says what they leave of what was not there before: on the nodes, and of objects. */
export async function leftovers(stage: ClusterStage, commands: string, before: Footprint): Promise<Footprint> {
  const { kubeconfig, dir } = stage.cluster;
  const { code, stderr } = await shell(`set -e\n${commands}`, { kubeconfig, home: dir });
  if (code !== 0 || stderr !== '') throw new Error(`the commands ended with ${code}: ${stderr}`);
  const after = await footprint();
  const changed = Object.entries(after.nodes).filter(([name, node]) => !isDeepStrictEqual(node, before.nodes[name]));
  const known = new Set(before.objects);
  return { nodes: Object.fromEntries(changed), objects: after.objects.filter((object) => !known.has(object)) };
}

/** Files of the pods of a namespace on the disks of all nodes: kubelets remove them at their own pace. */
export function filesOfPods({ cluster, fleet }: ClusterStage, namespace: string): readonly string[] {
  return [...fleet.nodes.keys()].flatMap((name) =>
    globSync(`log/{pods/${namespace}_*,containers/*_${namespace}_*}`, { cwd: join(cluster.dir, 'disks', name, 'var') }),
  );
}

interface SomeNode {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: object;
}

async function markedNodes(): Promise<Footprint['nodes']> {
  const { stdout } = await kubectl('get', 'nodes', '--output', 'json');
  const { items } = JSON.parse(stdout) as { items: readonly SomeNode[] };
  return Object.fromEntries(
    items.map(({ metadata: { name, labels, annotations = {}, finalizers = [] }, spec }) => {
      const { [MANAGED_LABEL]: _, ...others } = labels;
      return [name, { labels: others, annotations, finalizers, spec }];
    }),
  );
}

const PASSING = /^(pods|events|events\.events\.k8s\.io|pods\.metrics\.k8s\.io|componentstatuses)$/;

async function objectNames(): Promise<readonly string[]> {
  const { stdout: kinds } = await kubectl('api-resources', '--verbs=list', '--output', 'name');
  const wanted = kinds.split('\n').filter((kind) => kind !== '' && !PASSING.test(kind));
  const columns = 'custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const { stdout } = await kubectl('get', wanted.join(','), '--all-namespaces', '--no-headers', '--output', columns);
  return [...new Set(stdout.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' ')))].filter(Boolean);
}
