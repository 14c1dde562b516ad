import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { serveCluster } from '../../sim/cluster/https.ts';
import type { Rollout } from '../../sim/rollout.ts';
import { examples, ROOT } from '../documents.ts';
import { until, withRollout } from './support.ts';

/** The commands that the documents show, given to the real kubectl. */

const missing = spawnSync('kubectl', ['version', '--client']).error !== undefined;
const when = missing ? describe.skip : describe;
const MINUTE = 60_000;

/** Commands under a heading, one per line. */
function commands(document: string, heading: string): string[] {
  const found = examples(document, 'sh').filter(([title]) => title === heading);
  if (found.length === 0) throw new Error(`${document} shows no commands under "${heading}"`);
  return found.flatMap(([, source]) => source.trim().split('\n'));
}

when(missing ? 'documented commands (skipped: no kubectl on the PATH)' : 'documented commands', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'brupop-commands-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** What a command writes. One that watches is ended when it has shown something. */
  async function run(command: string, kubeconfig: string): Promise<string> {
    await writeFile(join(folder, 'kubeconfig'), kubeconfig);
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
    // In a group of its own, so that what the shell has started ends with it.
    const child = spawn('sh', ['-c', command], { cwd: ROOT, env, detached: true });
    const { code, stdout, stderr } = await outcome(child, / (-w|--watch)\b/.test(command));
    expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({ command, code: 0, stderr: '' });
    return stdout;
  }

  test.each([
    ['README.md', 'Deploy'],
    ['docs/deploying.md', 'As it is'],
  ])('%s, "%s": an empty cluster with cert-manager takes the manifests', async (document, heading) => {
    const cluster = new EmbeddedCluster({ clock: systemClock, random: Math.random });
    const served = await serveCluster(cluster);
    try {
      const kubeconfig = served.kubeconfig(ADMIN);
      await run('kubectl apply -f imports/crds/cert-manager.yaml', kubeconfig);
      const applied = await run(commands(document, heading)[0]!, kubeconfig);
      expect(
        applied
          .trim()
          .split('\n')
          .filter((line) => !line.endsWith(' created')),
      ).toEqual([]);
      expect(applied).toContain('daemonset.apps/brupop-agent created');
    } finally {
      await served.close();
    }
  });

  test(
    'who follows the documents watches a rollout and, in the middle of it, is rid of the operator without a trace',
    () =>
      withRollout({}, async (rollout) => {
        const kubeconfig = rollout.world.served.kubeconfig(ADMIN);
        const follow = async (document: string, heading: string): Promise<void> => {
          for (const command of commands(document, heading)) await run(command.replace('NODE', 'node-1'), kubeconfig);
        };
        await until(rollout, () => [...rollout.recorder.shadows.values()].some(({ status }) => status?.drain));
        await follow('docs/deploying.md', 'Before');
        await follow('docs/deploying.md', 'As it is');
        await follow('docs/deploying.md', 'Taking it away');
        expect(traces(rollout)).toEqual([]);
      }),
    2 * MINUTE,
  );
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function outcome(child: ChildProcess, watches: boolean): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text.stdout += chunk.toString();
      if (!watches) return;
      process.kill(-child.pid!);
      resolve({ code: 0, ...text });
    });
    child.on('close', (code) => resolve({ code, ...text }));
  });
}

/** What the operator would leave behind if it were taken away wrongly. */
function traces({ recorder }: Rollout): string[] {
  const nodes = [...recorder.nodes.values()].filter(
    ({ metadata, spec }) =>
      spec?.unschedulable || /brupop|updater/.test(JSON.stringify([metadata.labels, metadata.annotations])),
  );
  return [...nodes.map(({ metadata }) => metadata.name), ...recorder.shadows.keys()];
}
