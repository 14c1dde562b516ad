import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { helmChart } from '../../infra/helm/chart.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { binaries } from '../../tools/go/build.ts';
import { HELM } from '../../tools/go/helm.ts';
import { certificatesIssued } from '../../test/e2e/cert-manager.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { atRest } from '../../test/e2e/looks.ts';
import { operatorRuns } from '../../test/e2e/operator.ts';
import { documentedRemoval, type Footprint, footprint, leftovers } from './parts/footprint.ts';
import { changeWhileUpdating, OTHER, runningTags, stageForBoth } from './parts/other-version.ts';
import type { ClusterStage } from './stage.ts';

/** The life of a release of the Helm chart. */

const BUILD = { env: process.env, progress: () => undefined };
const NODES = ['node-1', 'node-2', 'node-3'];

let stage: ClusterStage;
let chart: string;
let before: Footprint;

beforeAll(async () => {
  stage = await stageForBoth();
  before = await footprint();
  chart = join(stage.cluster.dir, 'chart');
  for (const [path, text] of Object.entries(helmChart('infra'))) {
    await mkdir(dirname(join(chart, path)), { recursive: true });
    await writeFile(join(chart, path), text);
  }
}, 400_000);

afterAll(() => stage.strike(), 60_000);

test('a release is installed, upgraded and rolled back in the middle of a rollout, which goes on to its end', async () => {
  // As docs/deploying.md has it.
  await kubectl('create', 'namespace', NAMESPACE);
  await kubectl('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=privileged');
  await helm('install', 'brupop', chart);
  await certificatesIssued();
  stage.watch();
  const values = ['--set', `image.tag=${OTHER.image.tag}`, '--set', `logging.format=${OTHER.logging.format}`];
  const tags = await changeWhileUpdating(stage, {
    upgrade: () => helm('upgrade', 'brupop', chart, ...values),
    rollback: () => helm('rollback', 'brupop', '1'),
  });
  expect(tags).toContain(OTHER.image.tag);
  expect(await runningTags()).toEqual([VERSION]);
  expect(atRest(stage.history, stage.options.to)).toEqual(NODES);
  expect(await invariants(stage)).toEqual([]);
  await operatorRuns(stage);
}, 600_000);

test('uninstalled as documented, it leaves nothing', async () => {
  const { helm: file = '' } = await binaries(BUILD, [HELM]);
  const [, definitions = ''] = /`(kubectl delete crd [^`]+)`/.exec(await readFile('docs/deploying.md', 'utf8')) ?? [];
  expect(definitions).not.toBe('');
  const uninstall = `'${file}' uninstall brupop --namespace ${NAMESPACE} >/dev/null\n${definitions}`;
  const commands = documentedRemoval().replace(/^kubectl delete .*$/m, uninstall);
  expect(commands).toContain(uninstall);
  const all = `${commands}\nkubectl delete namespace ${NAMESPACE}`;
  expect(await leftovers(stage, all, before)).toEqual({ nodes: {}, objects: [] });
}, 300_000);

async function helm(...args: readonly string[]): Promise<void> {
  const { helm: file = '' } = await binaries(BUILD, [HELM]);
  // It remembers things in the home of whoever runs it.
  const env = { ...process.env, HOME: stage.cluster.dir };
  await promisify(execFile)(file, [...args, '--namespace', NAMESPACE], { env });
}
