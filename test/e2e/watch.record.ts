import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { Reason } from '../../runtime/controller/plan/reasons.ts';
import { NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/shadow/names.ts';
import { verdictOf } from '../../sim/view/verdict.ts';
import { record } from '../../scripts/record/terminal.ts';
import { kubectl } from './kubectl.ts';
import { type Scene, Stage } from './scene.ts';

/** What `npm run record` shows of a rollout on a real control plane, into the file that `$RECORDING` names. */

const NODES = 3;
/** For the reader to see what there was before, and what came of it. */
const LOOK_MS = 1500;

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
});

afterAll(() => stage.strike(), 60_000);

test('a rollout, as a person with kubectl sees it', async () => {
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=true`);
  const scene = await stage.startFleet({ nodes: NODES });
  await scene.until(allAre('Paused'));
  await kubectl('config', 'set-context', '--current', `--namespace=${NAMESPACE}`);

  const over = new AbortController();
  const { RECORDING: file = '', COLUMNS: columns, LINES: rows, ...env } = process.env;
  const size = { columns: Number(columns), rows: Number(rows) };
  const recorded = record('kubectl get brs -w', { ...size, cwd: '/', env, stop: over.signal });
  await systemClock.sleep(LOOK_MS);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  await scene.until(allAre('UpToDate'));
  await systemClock.sleep(LOOK_MS);
  over.abort();
  await writeFile(file, JSON.stringify(await recorded));
  expect(scene.fleet.reboots).toHaveLength(NODES);
}, 240_000);

const allAre =
  (reason: Reason) =>
  ({ shadows }: Scene['history']): boolean =>
    shadows.size === NODES && [...shadows.values()].every((shadow) => verdictOf(shadow)?.reason === reason);
