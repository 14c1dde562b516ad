import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { BrupopChart, PeopleRoles } from '../../infra/index.ts';
import type { Answer, Cluster } from '../../runtime/cli/command.ts';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { bind, createRole, deploy, requestOn } from './deployed.ts';

/** The roles for people, held against what commands ask for. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, windows: [] } });
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  const app = new App();
  const chart = new BrupopChart(app, 'brupop');
  const { view, operate, plan } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  for (const role of [view, operate]) await createRole(stage, role.toJson() as object);
  await stage.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`, plan.toJson() as object);
});
afterEach(() => stage.end());

/** What a command says to somebody who has this role and no other. */
async function as(role: string, name: string, ...names: readonly string[]): Promise<Answer> {
  const { transport } = await clusterOf(role);
  const request = requestOn(stage, names, { user: role, transport });
  return COMMANDS.find((command) => command.name === name)!.run({ ...request, values: { policy: 'all' } });
}

async function clusterOf(role: string): Promise<Cluster> {
  await bind(stage, { kind: 'User', name: role }, role).catch(() => undefined);
  const transport = stage.cluster.transport({ username: role, groups: ['system:authenticated'] });
  return { transport, namespace: NAMESPACE };
}

test('who has brupop-plan besides may ask the controller, of the operator and no other Service, and no pod', async () => {
  const { transport } = await clusterOf('brupop-view');
  const home = `/api/v1/namespaces/${NAMESPACE}`;
  const ask = (path: string) => transport.request({ method: 'GET', path: `${home}/${path}/proxy/plan` });
  stage.cluster.setServices(async () => ({ status: 200, body: {} }));
  const asked = 'services/http:brupop-controller-server:main';
  await expect(ask(asked)).rejects.toThrow(/403/);
  await stage.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
    metadata: { name: 'viewers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'brupop-plan' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'brupop-view' }],
  });
  expect(await ask(asked)).toEqual({});
  await expect(ask('services/https:brupop-apiserver:main')).rejects.toThrow(/403/);
  await expect(ask('pods/http:a:8080')).rejects.toThrow(/403/);
});

const SEEING = [
  ['status'],
  ['why'],
  ['why', 'a'],
  ['timeline', 'a'],
  ['history'],
  ['releases'],
  ['leftovers'],
  ['plan'],
  ['doctor'],
] as const;
/** These have tests of their own: they need further rights, a target, a port, a failure or leftovers. */
const APART = ['wait', 'dashboard', 'logs', 'report', 'notify', 'clear', 'cleanup'];

describe.each(['brupop-view', 'brupop-operate'])('who has %s', (role) => {
  test('may read all that there is to see', async () => {
    for (const [name, ...names] of SEEING) {
      const { value } = await as(role, name, ...names);
      const text = JSON.stringify(value);
      expect({ name, text }).toEqual({ name, text: expect.not.stringMatching(/you may not (list|read)/) });
    }
  });

  test('sees all of the dashboard', async () => {
    const { sections } = await readModel(await clusterOf(role), stage.clock.now());
    expect(sections.fleet).toMatchObject({ notKnown: [], counts: { nodes: 2 } });
  });
});

const STEERING = [
  ['pause'],
  ['resume'],
  ['pause', 'all'],
  ['resume', 'all'],
  ['hold', 'a'],
  ['unhold', 'a'],
  ['now', 'b'],
  ['halt', '1.1.0'],
  ['halt', '1.2.0'],
  ['rollback', '1.1.0'],
  ['allow', '1.1.0'],
  ['approve', '1.1.0'],
  ['expedite', '1.1.0'],
  ['retry', 'a'],
] as const;

test('each command is tried', () => {
  const tried = [...SEEING, ...STEERING].map(([name]) => name);
  expect(new Set([...tried, ...APART])).toEqual(new Set(COMMANDS.map(({ name }) => name)));
});

test('who has brupop-operate may steer, and who has brupop-view may not', async () => {
  await stage.report('a', {
    crash_count: 6,
    failed_versions: ['1.1.0'],
    state_transition_failure_timestamp: rfc3339(stage.clock.now()),
  });
  for (const [name, ...names] of STEERING) {
    await expect(as('brupop-view', name, ...names)).rejects.toThrow(/403|may not|forbidden/i);
    expect(await as('brupop-operate', name, ...names)).toMatchObject({ value: { failed: [] } });
  }
});

test.each([
  ['brupop-plan besides', true],
  ['brupop-view', false],
])('who has %s may read the logs of the operator: %s', (_role, isAllowed) => {
  const app = new App();
  const chart = new BrupopChart(app, 'brupop');
  const { view, plan } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  const { rules } = (isAllowed ? plan : view).toJson() as { rules: { resources: readonly string[] }[] };
  expect(rules.some(({ resources }) => resources.includes('pods/log'))).toBe(isAllowed);
});

test('no Secret is read, and nothing is written, with brupop-view', () => {
  const app = new App();
  const chart = new BrupopChart(app, 'brupop');
  const { view } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  const { rules } = view.toJson() as { rules: { resources: readonly string[]; verbs: readonly string[] }[] };
  expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets');
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
});
