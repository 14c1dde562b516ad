import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { CONTROLLER_DEPLOYMENT, CRD_NAME, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deploy } from './deployed.ts';
import { Reached } from './served.ts';

/** Which operator a change is for. */

const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;

let stage: Stage;
let reached: Reached;

beforeEach(async () => {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

/** A second operator, or the only one where the first is taken away. */
async function deployIn(namespace: string): Promise<void> {
  await stage.create('/api/v1/namespaces', { metadata: { name: namespace } });
  const labels = { app: 'x' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'brupop', image: 'x' }] } };
  await stage.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: CONTROLLER_DEPLOYMENT },
    spec: { selector: { matchLabels: labels }, template },
  });
}

/** As the definition says it of an operator in that namespace. */
const convertIn = (namespace: string) => {
  const service = { name: 'brupop-apiserver', namespace };
  const webhook = { clientConfig: { service }, conversionReviewVersions: ['v2'] };
  return stage.patch(CRD, { spec: { conversion: { strategy: 'Webhook', webhook } } });
};

const takeAway = () => stage.delete(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`);

async function pausedIn(namespace: string): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace}`;
  const home = (await stage.get(path)) as { metadata: { annotations?: object } };
  return PAUSED_ANNOTATION in (home.metadata.annotations ?? {});
}

interface Deeds {
  readonly done: readonly { readonly object: string; readonly undo?: string }[];
}

describe('a change', () => {
  const CHANGES = [
    'pause',
    'resume',
    'pause all',
    'hold a',
    'unhold a',
    'now a',
    'retry a',
    'release a',
    'notify test',
  ].map((command) => ({ command }));

  test.each(CHANGES)('by $command is refused in a namespace without the operator', async ({ command }) => {
    for (const format of ['table', 'json']) {
      const { code, out, err } = await reached.run(...command.split(' '), '-n', 'kube-system', '-o', format);
      expect({ code, out, err }).toEqual({
        code: 1,
        out: '',
        err: `namespace kube-system does not have the operator (Deployment ${CONTROLLER_DEPLOYMENT}), which is in ${NAMESPACE}: nothing was changed\n`,
      });
    }
    expect(await pausedIn('kube-system')).toBe(false);
  });

  test('finds the operator’s namespace by the webhook of the definition, and so does what only reads', async () => {
    await deployIn('node-updates');
    await takeAway();
    await convertIn('node-updates');
    expect((await reached.json<Deeds>('pause')).done).toMatchObject([
      { object: 'the fleet', undo: 'kubectl brupop resume' },
    ]);
    expect([await pausedIn('node-updates'), await pausedIn(NAMESPACE)]).toEqual([true, false]);
    expect((await reached.run('why')).out).toContain('paused: the fleet is paused by somebody, ');
  });

  test('where there are two operators asks which one is meant', async () => {
    await deployIn('node-updates');
    await convertIn(NAMESPACE);
    expect(await reached.run('pause')).toEqual({
      code: 1,
      out: '',
      err: `there are operators in ${NAMESPACE} and node-updates: say with -n which one you mean; nothing was changed\n`,
    });
    expect((await reached.run('pause', '-n', 'node-updates')).out).toBe(
      'the fleet: is paused, no update starts\n  undo: kubectl brupop resume -n node-updates\n',
    );
    expect([await pausedIn('node-updates'), await pausedIn(NAMESPACE)]).toEqual([true, false]);
  });

  test('by somebody who may not look for operators needs the definition to name the namespace', async () => {
    const message = 'deployments.apps is forbidden';
    stage.cluster.disturb(
      { resource: 'deployments', verbs: ['get', 'list'] },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message },
    );
    expect(await reached.run('pause')).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
    await convertIn(NAMESPACE);
    expect(await reached.run('pause')).toMatchObject({ code: 0, err: '' });
    expect(await reached.run('pause', '-n', 'kube-system')).toMatchObject({ code: 1, out: '' });
    expect([await pausedIn(NAMESPACE), await pausedIn('kube-system')]).toEqual([true, false]);
  });
});

test('what undoes a change repeats which cluster and which user it was for', async () => {
  const kubeconfig = await reached.kubeconfig(undefined, "ann's config");
  const given = ['-n', NAMESPACE, '--context', 'embedded', '--kubeconfig', kubeconfig, '--as', 'admin'];
  const groups = ['--as-group', 'system:masters', '--as-group', 'on call'];
  const repeated = `-n ${NAMESPACE} --context embedded --kubeconfig '${kubeconfig.replaceAll("'", String.raw`'\''`)}' --as admin --as-group system:masters --as-group 'on call'`;
  const hold = await reached.run('hold', 'a', ...given, ...groups);
  expect(hold.out).toBe(`node a: is held, no update starts there\n  undo: kubectl brupop unhold a ${repeated}\n`);
  const now = await reached.json<Deeds>('now', 'a', ...given, ...groups);
  expect(now.done[0]?.undo).toBe(`kubectl annotate node a brupop.bottlerocket.aws/update-now- ${repeated}`);
  await reached.run('pause', ...given, ...groups);
  const status = (await reached.run('status', ...given, ...groups)).out.replaceAll(/\s+/g, ' ');
  expect(status).toContain(`no update starts. kubectl brupop resume ${repeated} ends that.`);
});
