import { expect } from '@jest/globals';
import type { KubeList, Node } from '../../runtime/kube/objects.ts';
import { examples } from '../documents.ts';
import { shell } from '../shell.ts';
import type { RealCluster } from './cluster.ts';
import { kubectl } from './kubectl.ts';
import { borneByNodes } from './left.ts';

/** Takes the operator away as docs/deploying.md says. @param between done once it is gone, before its last traces are looked for */
export async function takeAway(
  { kubeconfig, dir: home }: Pick<RealCluster, 'kubeconfig' | 'dir'>,
  between?: () => Promise<unknown>,
): Promise<void> {
  const [, commands = ''] = examples('docs/deploying.md', 'sh').find(([title]) => title === 'Taking it away') ?? [];
  const lines = commands.trim().split('\n');
  const removal = lines.findIndex((line) => line.startsWith('kubectl delete')) + 1;
  const follow = async (some: readonly string[]) =>
    expect(await shell(`set -e\n${some.join('\n')}`, { kubeconfig, home })).toMatchObject({ code: 0 });
  await follow(lines.slice(0, removal));
  await between?.();
  await follow(lines.slice(removal));
}

/** What Nodes bear that is the operator's, and cordons: a line for each of these Nodes. */
export async function leftOnNodes(): Promise<readonly string[]> {
  const { stdout } = await kubectl('get', 'node', '-o', 'json');
  return borneByNodes((JSON.parse(stdout) as KubeList<Node>).items);
}
