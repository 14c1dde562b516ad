import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { KubeList, KubeObject } from '../../runtime/kube/objects.ts';
import { GROUP, NAMESPACE, PLURAL } from '../../runtime/api/shadow/names.ts';

/** On the control plane that `npm run lab -- controlplane exec` has started around this process. Rejects with what kubectl said. */
export function kubectl(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)('kubectl', args);
}

/** Applies objects as they are written. */
export async function apply(...items: readonly object[]): Promise<void> {
  const applied = promisify(execFile)('kubectl', ['apply', '-f', '-']);
  applied.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await applied;
}

/** All shadows as the webhook converts them now: each by its name, for a list may come out of the API server's cache, converted before. */
export async function shadowsAsV1(): Promise<readonly KubeObject[]> {
  const { stdout } = await kubectl('get', 'brs', '-n', NAMESPACE, '-o', 'jsonpath={.items[*].metadata.name}');
  const converted = await kubectl('get', `${PLURAL}.v1.${GROUP}`, ...stdout.split(' '), '-n', NAMESPACE, '-o', 'json');
  return (JSON.parse(converted.stdout) as KubeList<KubeObject>).items;
}
