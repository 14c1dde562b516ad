import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { serveCluster } from '../../lab/sim/cluster/https.ts';
import type { Rollout } from '../../lab/sim/rollout.ts';
import { examples } from '../documents.ts';
import { policyNamed } from '../policies.ts';
import { noKubectl, shell } from '../shell.ts';
import { until, withRollout } from './support.ts';
import { shared } from '../folder.ts';

/** The commands that the documents show, given to the real kubectl. */

const when = noKubectl ? describe.skip : describe;

/** Helm writes what it remembers of a release as protobuf, which the embedded cluster does not speak; so kubectl applies the chart. */
function installed(command: string): string {
  return command.startsWith('helm install')
    ? `${command.replace('install', 'template')} --kube-version 1.33.0 | kubectl apply -f -`
    : command;
}

/** Gives `use` the kubeconfig of an empty cluster. */
async function withCluster(use: (kubeconfig: string) => Promise<void>): Promise<void> {
  const served = await serveCluster(new EmbeddedCluster({ clock: systemClock, random: Math.random }));
  try {
    await use(served.kubeconfig(ADMIN));
  } finally {
    await served.close();
  }
}

/** Commands under a heading, one per line. */
function commands(document: string, heading: string): string[] {
  const found = examples(document, 'sh').filter(([title]) => title === heading);
  if (found.length === 0) throw new Error(`${document} shows no commands under "${heading}"`);
  return found.flatMap(([, source]) => source.trim().split('\n'));
}

when(noKubectl ? 'documented commands (skipped: no kubectl on the PATH)' : 'documented commands', () => {
  /** What a command writes. */
  async function run(command: string, kubeconfig: string): Promise<string> {
    const file = join(shared, 'kubeconfig');
    await writeFile(file, kubeconfig);
    const { code, stdout, stderr } = await shell(command, { kubeconfig: file, home: shared });
    expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({ command, code: 0, stderr: '' });
    return stdout;
  }

  test.each([
    ['README.md', 'Deploy'],
    ['docs/deploying.md', 'As it is'],
  ])('%s, "%s": an empty cluster with cert-manager takes the manifests', (document, heading) =>
    withCluster(async (kubeconfig) => {
      await run('kubectl apply -f imports/crds/cert-manager.yaml', kubeconfig);
      const applied = await run(commands(document, heading)[0]!, kubeconfig);
      const lines = applied.trim().split('\n');
      expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([]);
      expect(lines).toContain('daemonset.apps/brupop-agent created');
    }),
  );

  const noHelm = spawnSync('helm', ['version']).error !== undefined;

  test(`the chart goes into a namespace that is made for it${noHelm ? ' (as far as that goes without helm)' : ''}`, () =>
    withCluster(async (kubeconfig) => {
      await run('kubectl apply -f imports/crds/cert-manager.yaml', kubeconfig);
      const documented = commands('docs/deploying.md', 'With Helm').filter(
        (line) => !(noHelm && line.startsWith('helm')),
      );
      for (const command of documented) await run(installed(command), kubeconfig);
      if (noHelm) return;
      const deployment = 'get deployment brupop-controller-deployment --namespace updates --output yaml';
      expect(await run(`kubectl ${deployment}`, kubeconfig)).toContain('value: 10%');
    }));

  test('who follows the documents watches a rollout and, in the middle of it, is rid of the operator without a trace', () =>
    withRollout({}, async (rollout) => {
      const kubeconfig = rollout.world.served.kubeconfig(ADMIN);
      const follow = async (document: string, heading: string): Promise<void> => {
        for (const command of commands(document, heading)) await run(command.replace('NODE', 'node-1'), kubeconfig);
      };
      await until(rollout, () => [...rollout.recorder.shadows.values()].some(({ status }) => status?.drain));
      await follow('docs/deploying.md', 'Before');
      await follow('docs/deploying.md', 'As it is');
      const policy = policyNamed('always', { nodeSelector: {}, windows: [], preferUpdated: true });
      await run(`echo '${JSON.stringify(policy)}' | kubectl apply -f -`, kubeconfig);
      for (const command of commands('docs/deploying.md', 'Taking it away')) await run(command, kubeconfig);
      expect(traces(rollout)).toEqual([]);
    }));
});

/** What the operator would leave behind if it were taken away wrongly. */
function traces({ recorder }: Rollout): string[] {
  const nodes = [...recorder.nodes.values()].filter(
    ({ metadata, spec }) =>
      spec?.unschedulable ||
      /brupop|updater/.test(JSON.stringify([metadata.labels, metadata.annotations, spec?.taints])),
  );
  return [...nodes.map(({ metadata }) => metadata.name), ...recorder.shadows.keys()];
}
