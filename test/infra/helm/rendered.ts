import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../manifests.ts';
import type { Values } from './everything.ts';

/** Runs of Helm without a cluster. */

export const RELEASE = { instance: 'updater', namespace: 'updates' };

export function writeChart(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

export function helm(folder: string, ...args: readonly string[]) {
  const { status, signal, error, stdout, stderr } = spawnSync('helm', args, { cwd: folder, encoding: 'utf8' });
  // On a busy machine it may be killed, and would look like a chart that refuses its values and says nothing.
  if (status === null) throw new Error(`helm ${args[0]} did not end by itself: ${signal}`, { cause: error });
  return { status, stdout, stderr };
}

/** @param layers of values, the last of which wins */
export function template(folder: string, layers: Values | readonly Values[], namespace = RELEASE.namespace) {
  const files = [layers].flat().flatMap((values, index) => {
    writeFileSync(join(folder, `given-${index}.json`), JSON.stringify(values));
    return ['--values', `given-${index}.json`];
  });
  const version = ['--kube-version', '1.33.0'];
  return helm(folder, 'template', RELEASE.instance, '.', '--namespace', namespace, ...files, ...version);
}

/** What Helm makes of the chart. @throws what it says, where it refuses the values */
export function released(folder: string, layers: Values | readonly Values[]): Manifest[] {
  const { status, stdout, stderr } = template(folder, layers);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}
