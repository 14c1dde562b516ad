import { afterEach, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { status } from '../../runtime/cli/status/command.ts';
import { film } from '../../scripts/record/film.ts';
import { drawSvg } from '../../scripts/record/svg.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { HOLD_ANNOTATION, LAST_UPDATE_ANNOTATION, shadowName } from '../../runtime/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { deploy, requestOn } from './deployed.ts';

/** The picture of `kubectl brupop status` in the documents. With DRAW=1 it is drawn anew. */

const PICTURE = fileURLToPath(new URL('../../docs/status.svg', import.meta.url));
const COLUMNS = 100;
const COMMAND = 'kubectl brupop status';

let stage: Stage;
afterEach(() => stage.end());

const nodes = (pool: string, count: number) => Array.from({ length: count }, (_, index) => `${pool}-${index + 1}`);

/** A test pool that is done, and production in the middle of its rollout, with a drain that hangs and a node that failed. */
async function rollout(): Promise<void> {
  const pools = { test: nodes('test', 4), production: nodes('prod', 9) };
  stage = await Stage.with(...pools.test, ...pools.production);
  await definePolicies(stage, {
    test: { nodeSelector: { matchLabels: { pool: 'test' } }, priority: 2 },
    production: {
      nodeSelector: { matchLabels: { pool: 'production' } },
      priority: 1,
      after: ['test'],
      maxConcurrent: 3,
      maxFailed: 3,
    },
  });
  for (const [pool, names] of Object.entries(pools)) {
    for (const [index, name] of names.entries()) {
      const zone = `eu-1${'abc'[index % 3]}`;
      await stage.patchNode(name, { metadata: { labels: { pool, 'topology.kubernetes.io/zone': zone } } });
      await stage.shadows.patch(shadowName(name), { metadata: { annotations: { [LAST_UPDATE_ANNOTATION]: '312' } } });
    }
  }
  for (const name of [...pools.test, 'prod-1', 'prod-2']) await stage.report(name, { current_version: '1.1.0' });
  await stage.patchNode('prod-9', { metadata: { annotations: { [HOLD_ANNOTATION]: 'ann: debugging' } } });
  const failedAt = rfc3339(stage.clock.now());
  await stage.report('prod-8', {
    crash_count: 3,
    state_transition_failure_timestamp: failedAt,
    failed_versions: ['1.1.0'],
  });
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '3' });
  await stage.pass(5000);
  for (const name of ['prod-3', 'prod-4']) await stage.report(name, { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(5000);
  const drain = {
    started_at: rfc3339(stage.clock.now()),
    pods_left: 2,
    blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-7d4b)'],
  };
  await stage.mark('prod-3');
  await stage.report('prod-3', { drain });
  await stage.pass(240_000);
}

test('shows what the program says of a rollout', async () => {
  await rollout();
  const lines = (await status.run(requestOn(stage))).lines({ columns: COLUMNS, colours: true });
  const text = [`\u001B[1;32m$\u001B[0m ${COMMAND}`, ...lines].join('\r\n');
  const pace = { longestPauseMs: 0, speed: 1, holdMs: 1000 };
  const shown = await film({ columns: COLUMNS, rows: lines.length + 1, events: [[0, text]] }, pace);
  const svg = drawSvg([{ title: COMMAND, film: shown }], `A terminal: ${COMMAND} in the middle of a rollout.`);
  if (process.env['DRAW']) await writeFile(PICTURE, svg);
  expect(await readFile(PICTURE, 'utf8')).toBe(svg);
});
