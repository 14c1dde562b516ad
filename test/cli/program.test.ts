import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { deploy } from './deployed.ts';
import { brupop, PROGRAM, Reached } from './served.ts';

/** `kubectl brupop` from its arguments to its exit code, on clusters that are kind and on others. */

let stage: Stage;
let reached: Reached;

async function fleet(...names: readonly string[]): Promise<void> {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, ...names);
  await deploy(stage);
  reached = await Reached.of(stage.cluster);
}

const refuse = (resource: string): void =>
  void stage.cluster.disturb(
    { resource, verbs: ['get', 'list'] },
    { kind: 'refuse', code: 403, reason: 'Forbidden', message: `no ${resource}` },
  );

interface StatusValue {
  readonly counts: Readonly<Record<string, number>>;
  readonly notKnown: readonly string[];
  readonly updating: readonly { readonly node: string; readonly step: string }[];
  readonly waiting: readonly { readonly reason: string; readonly nodes: readonly string[] }[];
}

describe('of a fleet', () => {
  beforeEach(() => fleet('a', 'b', 'c'));
  afterEach(async () => {
    await reached.close();
    await stage.end();
  });

  test('status, why and leftovers say the same as tables, as JSON and as YAML', async () => {
    const table = await reached.run('status');
    expect(table).toMatchObject({ code: 0, err: '' });
    expect(table.out).toMatch(/^fleet +0\/3 +\[>{7}\.{13}\] +1 +2 +0/m);
    expect(table.out).toMatch(/^ {2}staging +1 {2}a$/m);
    expect(table.out).toMatch(/^ +2 {2}b, c {2}WaitingForSlot: other nodes are being updated$/m);
    const value = await reached.json<StatusValue>('status');
    expect(value).toMatchObject({ counts: { nodes: 3, updating: 1, waiting: 2 }, notKnown: [] });
    expect(value.updating).toMatchObject([{ node: 'a', step: 'staging', version: '1.1.0' }]);
    expect(value.waiting).toMatchObject([{ reason: 'WaitingForSlot', nodes: ['b', 'c'] }]);
    const yaml = parse((await reached.run('-o', 'yaml', 'why', 'b')).out) as object;
    expect(yaml).toMatchObject({ nodes: [{ node: 'b', reason: 'WaitingForSlot', position: 1 }] });
    expect((await reached.run('why', 'a', 'b')).out.split('\n').map((line) => line.split(/ +/)[1])).toEqual([
      'known:',
      'Updating',
      'by',
      'WaitingForSlot',
      'then',
      'by',
      undefined,
    ]);
    await stage.patch('/api/v1/nodes/c', { spec: { unschedulable: true } });
    expect(await reached.json('leftovers')).toMatchObject({ leftovers: [{ node: 'c', whose: 'unknown' }] });
  });

  test('status -w says what has changed, keeps it while the cluster does not answer, and ends at Ctrl-C', async () => {
    const watch = await reached.start('status', '-w');
    await watch.said('staging');
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await watch.said('draining');
    refuse('nodes');
    await watch.said('you may not do that (403): no nodes');
    expect(watch.out.split('draining').length).toBeGreaterThan(2);
    watch.child.kill('SIGINT');
    expect(await watch.ended).toEqual([130, null]);
  });

  test('colours and the cluster’s control characters never reach what is no terminal', async () => {
    const drain = { started_at: '2026-01-01T00:00:00Z', pods_left: 1, blocked_by: ['\u001B]0;title\u0007 a budget'] };
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { drain });
    const { out } = await reached.run('status');
    expect(out).toContain('a budget');
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  });

  test.each([
    ['leases', /^not known: who has a permit/m],
    ['pods', /^not known: which agents run/m],
    ['namespaces', /^not known: whether the fleet is paused/m],
    ['deployments', /^not known: the controller's settings/m],
  ])('what stands without the right to read %s is said, and what is assumed', async (resource, said) => {
    refuse(resource);
    const { code, out } = await reached.run('status');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(said) });
    expect(out).toMatch(/^fleet +0\/3/m);
  });

  test('without the right to list nodes or shadows nothing can be said, and the right is named', async () => {
    refuse('bottlerocketshadows');
    expect(await reached.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^you may not do that \(403\): no bottlerocketshadows\n.* brupop-view /),
    });
  });

  test('explicit nulls in a shadow are fields that are not there', async () => {
    const nulls = { last_failure: null, failed_versions: null, conditions: null, drain: null, reboot: null };
    await stage.shadows.patchStatus('brs-b', { status: nulls });
    await stage.create(shadowsPath(NAMESPACE), {
      apiVersion: 'brupop.bottlerocket.aws/v2',
      kind: 'BottlerocketShadow',
      metadata: { name: 'brs-gone', namespace: NAMESPACE },
      spec: { state: 'Idle', version: null, state_transition_timestamp: null },
      status: null,
    });
    for (const command of ['status', 'why', 'leftovers']) expect((await reached.run(command)).code).toBe(0);
  });

  test('a node that is not there ends why with 1, and the others are still told of', async () => {
    expect(await reached.run('why', 'nobody')).toMatchObject({ code: 1, err: 'the cluster has no node nobody\n' });
    const some = await reached.run('why', 'a', 'nobody');
    expect(some.code).toBe(1);
    expect(some.out).toMatch(/^a +Updating.*\n {2}by its condition Updating.*\nnobody +is no node of the cluster$/m);
  });

  test('in another namespace than the operator’s, it says how to name the right one', async () => {
    expect(await reached.run('status', '-n', 'default')).toMatchObject({ code: 1, err: expect.stringContaining('-n') });
  });

  test('a token that has expired, and a context that does not exist, are named', async () => {
    const expired = await reached.kubeconfig({ token: 'old' }, 'expired');
    expect(await brupop(['status', '--kubeconfig', expired])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/credentials \(401\): log in again/),
    });
    expect(await reached.run('status', '--context', 'elsewhere')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no context "elsewhere", only embedded'),
    });
  });

  test('an exec plug-in is asked who one is', async () => {
    const config = JSON.parse(await readFile(await reached.kubeconfig(), 'utf8')) as { users: { user: object }[] };
    const { token } = config.users[0]!.user as { token: string };
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } };
    const command = { apiVersion: credential.apiVersion, command: 'echo', args: [JSON.stringify(credential)] };
    config.users[0]!.user = { exec: { ...command, interactiveMode: 'Never' } };
    const path = join(folder, 'exec');
    await writeFile(path, JSON.stringify(config));
    expect(await brupop(['status', '--kubeconfig', path])).toMatchObject({ code: 0, err: '' });
  });

  test('several kubeconfigs are merged as kubectl merges them', async () => {
    const real = await reached.kubeconfig();
    const chosen = join(folder, 'chosen');
    await writeFile(chosen, JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'embedded' }));
    expect(await brupop(['status'], { env: { KUBECONFIG: `${chosen}:${real}:${folder}/none` } })).toMatchObject({
      code: 0,
    });
  });
});

const NODE_20 = ['/usr/bin/node', '/usr/local/bin/node'].find((path) =>
  (spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '').startsWith('v20.'),
);

(NODE_20 === undefined ? describe.skip : describe)(`with Node 20${NODE_20 ? '' : ' (skipped: there is none)'}`, () => {
  test('it says the same', async () => {
    await fleet('a', 'b');
    try {
      const env = { KUBECONFIG: await reached.kubeconfig() };
      const outcomes = await Promise.all(
        [process.execPath, NODE_20 ?? ''].map((node) => brupop(['why'], { env, command: [node, PROGRAM] })),
      );
      expect(outcomes[1]).toEqual(outcomes[0]);
      expect(outcomes[1]).toMatchObject({ code: 0, err: '' });
    } finally {
      await reached.close();
      await stage.end();
    }
  });
});

test('a cluster without nodes, and one without the operator, are answered in words', async () => {
  stage = await Stage.with();
  reached = await Reached.of(stage.cluster);
  const without = await reached.run('status');
  await deploy(stage);
  const empty = await reached.run('status');
  await reached.close();
  await stage.end();
  expect(without).toMatchObject({ code: 1, out: '', err: expect.stringContaining('-n names') });
  expect(empty).toMatchObject({ code: 0, err: '', out: expect.stringContaining('No node is managed') });
});

describe('what is to be done is said', () => {
  const config = (user: object, more: object = {}): object => ({
    clusters: [{ name: 'x', cluster: { server: 'https://127.0.0.1:9' } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    users: [{ name: 'x', user }],
    'current-context': 'x',
    ...more,
  });
  const exec = (command: string, ...args: readonly string[]): object => ({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args, interactiveMode: 'Never' },
  });

  test.each([
    ['a server that is not there', config({}), /^the cluster does not answer: .*ECONNREFUSED: look at the server/],
    ['no current context', config({}, { 'current-context': '' }), /no context is current \(there are: x\): kubectl/],
    ['a plug-in that is not there', config(exec('no-such-plug-in')), /gives no credentials: .*no-such-plug-in/],
    ['a plug-in that refuses', config(exec('sh', '-c', 'echo log in >&2; exit 1')), /gives no credentials: log in\n$/],
  ])('where there is %s', async (_what, given, said) => {
    const path = join(folder, 'config');
    await writeFile(path, JSON.stringify(given));
    const { code, err } = await brupop(['status', '--kubeconfig', path]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(said) });
  });

  test('where there is no kubeconfig', async () => {
    const { code, err } = await brupop(['status']);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^there is no kubeconfig: .*--kubeconfig\n$/),
    });
  });
});

describe('arguments', () => {
  test.each([
    [['nothing'], 'there is no command nothing'],
    [['stauts'], 'there is no command stauts: did you mean status?'],
    [['status', '--request-timeout', 'soon'], '--request-timeout: expected a duration like 5s, got soon'],
    [['status', '-o=xml'], '-o: expected one of table, json, yaml, got xml'],
    [['status', 'a'], 'status takes no names, got a'],
    [['status', '-o', 'xml'], '-o: expected one of table, json, yaml, got xml'],
    [['why', '--watch'], "Unknown option '--watch'"],
    [['history', '--since', 'ever'], '--since: expected a duration'],
  ])('%j end with 2 and what is wrong', async (args, said) => {
    const { code, out, err } = await brupop(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(said);
  });

  test('--help names every command, and each command says what it takes', async () => {
    const { code, out } = await brupop(['--help']);
    expect(code).toBe(0);
    for (const { name, summary } of COMMANDS) expect(out).toMatch(new RegExp(`^  ${name}.*  ${summary}$`, 'm'));
    const command = [process.execPath, PROGRAM];
    expect((await brupop(['help-me-not', '--help'], { command })).code).toBe(2);
    expect((await brupop(['status', '--help'])).out).toMatch(/-w, --watch/);
    expect((await brupop(['--version'])).out).toBe(`kubectl-brupop ${VERSION}\n`);
  });
});
