import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Lease } from '../../runtime/kube/objects.ts';
import { CONTROLLER_LEASE } from '../../runtime/api/shadow/names.ts';
import { auditOf, authorOf, isOperator } from './audit.ts';
import { crowd } from './few-seats.ts';
import { invariants } from './invariants.ts';
import { atRest, shadowOf } from './looks.ts';
import { operatorRuns } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  scene = await stage.startFleet({ nodes: 3 });
  await operatorRuns(scene);
}, 90_000);

afterAll(() => stage.strike(), 60_000);

test('an API server that turns away a share of what it is asked has all nodes updated, one after the other, and no leader loses its term', async () => {
  const { history, until, cluster, options } = scene;
  const before = (await auditOf(cluster)).length;
  const busy = await crowd(cluster);
  await until(() => atRest(history, options.to).length === 3);
  await busy.stop();

  const asked = (await auditOf(cluster)).slice(before).filter((event) => isOperator(authorOf(event)));
  const turnedAway = asked.filter(({ responseStatus }) => responseStatus?.code === 429);
  // Or nothing was tried.
  expect(turnedAway.length / asked.length).toBeGreaterThan(0.1);
  const holders = asked.flatMap(({ objectRef, responseObject }) =>
    objectRef?.name === CONTROLLER_LEASE
      ? ((responseObject as Partial<Lease> | undefined)?.spec?.holderIdentity ?? [])
      : [],
  );
  // A leader whose own node is drained gives the Lease back.
  const lost = holders.filter((holder, index) => holder !== '' && !['', holder].includes(holders[index - 1] ?? ''));
  expect(lost).toEqual([]);
  expect([...history.nodes.keys()].map((node) => shadowOf(history, node)?.status?.crash_count)).toEqual([0, 0, 0]);
  expect(await invariants(scene)).toEqual([]);
}, 240_000);
