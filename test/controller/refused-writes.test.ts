import { afterEach, describe, expect, test } from '@jest/globals';
import { conditionUpToDate } from '../../runtime/controller/plan/facts/conditions.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { CONTROLLER_LEASE, HOLD_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Disturbance, Disturbed } from '../../lab/sim/cluster/cluster.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

const STARTED = 'StagedAndPerformedUpdate 1.1.0';
const ALL_OF_A: Disturbed = { resource: 'bottlerocketshadows', name: 'brs-a' };
/** As of a policy whose match conditions name the spec: annotations pass. */
const SPECS: Disturbed = { resource: 'bottlerocketshadows', where: (body) => 'spec' in (body as object) };
const SPEC_OF_A: Disturbed = { ...SPECS, name: 'brs-a' };
const refusing = (code: number): Disturbance => ({ kind: 'refuse', code, reason: 'Denied', message: 'not on Fridays' });

const verdictOn = async (node: string): Promise<object | undefined> =>
  conditionUpToDate((await stage.shadows.get(`brs-${node}`))?.status ?? undefined);

/** Writes that were tried in the next `ms`, the renewals of the Lease apart: one comes every other second. */
async function writesIn(ms: number): Promise<number> {
  const before = stage.cluster.audit.length;
  await stage.pass(ms);
  const writes = stage.cluster.audit.slice(before).filter(({ verb }) => ['create', 'update', 'patch'].includes(verb));
  return writes.length - ms / 2000;
}

const minutes = (count: number): number => count * 60_000;

describe.each([403, 429])('where the API server answers each write to a with %d', (code) => {
  test('its permit goes to the next, it is asked for again ever more rarely, and its verdict says what is refused', async () => {
    stage = await Stage.with('a', 'b', 'c');
    const end = stage.cluster.disturb(ALL_OF_A, refusing(code));
    stage.start();
    expect(await writesIn(minutes(1))).toBeLessThan(30);
    expect(await stage.specs('a', 'b', 'c')).toEqual(['Idle', STARTED, 'Idle']);
    expect(await stage.permits()).toEqual(['brs-b']);
    await stage.update('b');
    await stage.pass();
    await stage.update('c');
    expect(await stage.permits()).toEqual([]);
    expect(await verdictOn('a')).toMatchObject({
      reason: 'WriteRefused',
      message: `the start of its update is refused: ${code} Denied: not on Fridays`,
    });
    await stage.pass(minutes(30));
    expect(await writesIn(minutes(60))).toBeLessThan(100);
    end();
    await stage.pass(minutes(6));
    expect(await stage.spec('a')).toBe(STARTED);
  });
});

test('a step that is refused in mid-update keeps its permit, and the other updates go on', async () => {
  stage = await Stage.with('a', 'b', 'c');
  stage.start({ env: { MAX_CONCURRENT_UPDATE: '2' } });
  await stage.pass();
  const end = stage.cluster.disturb(ALL_OF_A, refusing(403));
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(minutes(1));
  await stage.update('b');
  await stage.pass();
  expect(await stage.specs('a', 'b', 'c')).toEqual([STARTED, 'Idle', STARTED]);
  expect([...(await stage.permits())].toSorted()).toEqual(['brs-a', 'brs-c']);
  expect(await verdictOn('a')).toMatchObject({ reason: 'WriteRefused' });
  expect(await writesIn(minutes(60))).toBeLessThan(35);
  end();
  await stage.pass(minutes(6));
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
});

describe('where a webhook fails with 500', () => {
  test('for the spec of a alone: the write is settled, the permit goes to the next, and nothing loops', async () => {
    stage = await Stage.with('a', 'b');
    stage.cluster.disturb(SPEC_OF_A, refusing(500));
    stage.start();
    expect(await writesIn(minutes(1))).toBeLessThan(30);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', STARTED]);
    await stage.update('b');
    await stage.pass(minutes(30));
    expect(await writesIn(minutes(60))).toBeLessThan(130);
    expect(await stage.permits()).toEqual([]);
  });

  test('for whatever is written to a: it may have been carried out, so a keeps its permit, and says so', async () => {
    stage = await Stage.with('a', 'b', 'c');
    const end = stage.cluster.disturb(ALL_OF_A, refusing(500));
    stage.start({ env: { MAX_CONCURRENT_UPDATE: '2' } });
    await stage.pass(minutes(30));
    expect(await stage.specs('a', 'b', 'c')).toEqual(['Idle', STARTED, 'Idle']);
    expect([...(await stage.permits())].toSorted()).toEqual(['brs-a', 'brs-b']);
    expect(await verdictOn('a')).toMatchObject({
      reason: 'WriteRefused',
      message: 'the write that settles an earlier one fails: 500 Denied: not on Fridays',
    });
    expect(await writesIn(minutes(60))).toBeLessThan(35);
    end();
    await stage.pass(minutes(6));
    expect(await stage.spec('a')).toBe(STARTED);
  });
});

test('a fleet whose starts are all refused is asked about one node a second at most', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  stage = await Stage.with(...names);
  stage.cluster.disturb(SPECS, refusing(403));
  stage.start();
  await stage.pass(minutes(10));
  const starts = (): number =>
    stage.cluster.audit.filter(({ code, subresource }) => code === 403 && subresource === undefined).length;
  const before = starts();
  await stage.pass(minutes(10));
  expect(starts() - before).toBeLessThan(600);
  expect(await stage.permits()).toEqual([]);
});

/** The Lease, where its list would hold more than so many permits. */
const listsOfMoreThan = (most: number): Disturbed => ({
  resource: 'leases',
  where: (body) => JSON.stringify(body).split('nodeUid').length - 1 > most,
});
const started = async (...names: readonly string[]): Promise<readonly string[]> => {
  const specs = await stage.specs(...names);
  return names.filter((_, index) => specs[index] === STARTED);
};

describe('where the API server refuses the list of permits', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const everybody = { env: { MAX_CONCURRENT_UPDATE: 'unlimited' } };

  test.each([413, 500])(
    'with %d whatever is on it, nobody starts, each says why, and it is asked for ever more rarely',
    async (code) => {
      stage = await Stage.with(...names);
      const end = stage.cluster.disturb(listsOfMoreThan(0), refusing(code));
      stage.start(everybody);
      await stage.pass(minutes(10));
      expect(await started(...names)).toEqual([]);
      const message = `the start of its update ${code === 500 ? 'fails' : 'is refused'}: ${code} Denied: not on Fridays`;
      for (const name of names) expect(await verdictOn(name)).toMatchObject({ reason: 'WriteRefused', message });
      expect(await writesIn(minutes(20))).toBeLessThan(45);
      end();
      await stage.pass(minutes(6));
      expect(await started(...names)).toEqual(names);
    },
  );

  test('that is longer than three, three start, and the others as permits come back', async () => {
    stage = await Stage.with(...names);
    stage.cluster.disturb(listsOfMoreThan(3), refusing(422));
    stage.start(everybody);
    await stage.pass(minutes(2));
    expect(await started(...names)).toHaveLength(3);
    for (let left = names.length; left > 0; left--) {
      const [next] = await started(...names);
      await stage.update(next!);
      await stage.pass(minutes(6));
    }
    expect(await stage.permits()).toEqual([]);
    expect(await stage.specs(...names)).toEqual(names.map(() => 'Idle'));
  });

  test('that gives one back, the permit keeps its place, and its node says so', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    const end = stage.cluster.disturb({ resource: 'leases', where: (body) => isEmptied(body) }, refusing(403));
    await stage.update('a');
    expect(await writesIn(minutes(60))).toBeLessThan(60);
    expect(await verdictOn('a')).toMatchObject({
      reason: 'WriteRefused',
      message: 'the return of its permit is refused: 403 Denied: not on Fridays',
    });
    end();
    await stage.pass(minutes(6));
    expect(await stage.spec('b')).toBe(STARTED);
  });
});

const isEmptied = (body: unknown): boolean => JSON.stringify(body).includes('/slots":"[]"');

test('a permit that the Node does not let go of keeps its place, and says so', async () => {
  stage = await Stage.with('a', 'b');
  stage.start();
  await stage.pass();
  const end = stage.cluster.disturb({ resource: 'nodes', name: 'a' }, refusing(403));
  await stage.update('a');
  expect(await writesIn(minutes(60))).toBeLessThan(35);
  expect(await stage.permits()).toEqual(['brs-a']);
  expect(await verdictOn('a')).toMatchObject({
    reason: 'WriteRefused',
    message: 'the return of its permit is refused: 403 Denied: not on Fridays',
  });
  end();
  await stage.pass(minutes(6));
  expect(await stage.permits()).toEqual(['brs-b']);
});

describe('while nothing that is written to a is answered', () => {
  const begun = async (): Promise<() => void> => {
    stage = await Stage.with('a', 'b', 'c', 'd');
    stage.start({ env: { MAX_CONCURRENT_UPDATE: '2' } });
    await stage.pass();
    const end = stage.cluster.disturb(ALL_OF_A, { kind: 'hang' });
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass(3000);
    return end;
  };

  test('the other updates go on at their pace, and a keeps its permit', async () => {
    await begun();
    for (const name of ['b', 'c', 'd']) {
      // A plan waits two seconds for an answer about a before it goes on without a.
      await stage.pass(3000);
      await stage.update(name);
    }
    await stage.pass(3000);
    expect(await stage.specs('b', 'c', 'd')).toEqual(['Idle', 'Idle', 'Idle']);
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.pass(minutes(10));
    expect(await verdictOn('a')).toMatchObject({ reason: 'WriteRefused' });
  });

  test('a step that lands as late as that is no second one, and the update goes on from there', async () => {
    const end = await begun();
    end();
    await stage.pass();
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await stage.pass();
    expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
  });
});

test('a start that lands after its node is held counts as an update: no other node starts on the unproven release', async () => {
  stage = await Stage.with('a', 'b');
  const end = stage.cluster.disturb(SPEC_OF_A, { kind: 'hang' });
  stage.start({ env: { MAX_CONCURRENT_UPDATE: '2', MAX_FAILED_UPDATE: '1' } });
  await stage.pass(5000);
  await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
  await stage.pass(5000);
  expect(await stage.spec('b')).toBe('Idle');
  end();
  await stage.pass(100);
  expect(await stage.specs('a', 'b')).toEqual([STARTED, 'Idle']);
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('a hundred writes that are not answered leave the Kubernetes API room for others', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  stage = await Stage.with(...names);
  stage.cluster.disturb(SPECS, { kind: 'hang' });
  let most = 0;
  let underWay = 0;
  const transport = intercepted(stage.transport, async ({ method, body }, go) => {
    const counts = method === 'PATCH' && 'spec' in (body as object) ? 1 : 0;
    most = Math.max(most, (underWay += counts));
    try {
      return await go();
    } finally {
      underWay -= counts;
    }
  });
  stage.start({ transport, env: { MAX_CONCURRENT_UPDATE: 'unlimited' } });
  await stage.pass(minutes(1));
  expect(most).toBeLessThanOrEqual(32);
});

test('a list of permits that somebody has overwritten is read again every half minute, and no node is said to be refused for it', async () => {
  stage = await Stage.with('a');
  await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
  stage.start();
  await stage.pass();
  const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`;
  await stage.patch(path, { metadata: { annotations: { [PERMITS_ANNOTATION]: 'none' } } });
  await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: null } } });
  await stage.pass(minutes(20));
  expect(await verdictOn('a')).not.toMatchObject({ reason: 'WriteRefused' });
  await stage.patch(path, { metadata: { annotations: { [PERMITS_ANNOTATION]: null } } });
  await stage.pass(minutes(1));
  expect(await stage.spec('a')).toBe(STARTED);
});
