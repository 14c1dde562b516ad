import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { BrupopChart, PeopleRoles } from '../../infra/index.ts';
import type { Answer, Cluster, Request } from '../../runtime/cli/command.ts';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { POLICIES_PATH } from '../../runtime/kube/resources.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/policy/names.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { policyCrd } from '../policy-crd.ts';
import { deploy } from './deployed.ts';

/** The roles for people, held against what commands ask for. */

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
  await stage.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', policyCrd());
  const policy = { apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata: { name: 'all' } };
  await stage.create(POLICIES_PATH, { ...policy, spec: { nodeSelector: {}, windows: [] } });
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  const app = new App();
  const chart = new BrupopChart(app, 'brupop');
  const { view, operate } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  for (const role of [view, operate]) await stage.create(`${RBAC}/clusterroles`, role.toJson() as object);
});
afterEach(() => stage.end());

/** What a command says to somebody who has this role and no other. */
async function as(role: string, name: string, ...names: readonly string[]): Promise<Answer> {
  const { transport } = await clusterOf(role);
  const request: Request = {
    names,
    values: {},
    clock: stage.clock,
    user: role,
    connect: async () => ({ transport, namespace: NAMESPACE }),
  };
  return COMMANDS.find((command) => command.name === name)!.run(request);
}

async function clusterOf(role: string): Promise<Cluster> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const subjects = [{ kind: 'User', apiGroup: roleRef.apiGroup, name: role }];
  const binding = { metadata: { name: role }, roleRef, subjects };
  await stage.create(`${RBAC}/clusterrolebindings`, binding).catch(() => undefined);
  const transport = stage.cluster.transport({ username: role, groups: ['system:authenticated'] });
  return { transport, namespace: NAMESPACE };
}

const SEEING = [
  ['status'],
  ['why'],
  ['why', 'a'],
  ['timeline', 'a'],
  ['history'],
  ['leftovers'],
  ['plan'],
  ['doctor'],
] as const;

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
] as const;

test('who has brupop-operate may steer, and who has brupop-view may not', async () => {
  for (const [name, ...names] of STEERING) {
    await expect(as('brupop-view', name, ...names)).rejects.toThrow(/403|may not|forbidden/i);
    expect(await as('brupop-operate', name, ...names)).toMatchObject({ value: { failed: [] } });
  }
});

test('no Secret is read, and nothing is written, with brupop-view', () => {
  const app = new App();
  const chart = new BrupopChart(app, 'brupop');
  const { view } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  const { rules } = view.toJson() as { rules: { resources: readonly string[]; verbs: readonly string[] }[] };
  expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets');
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
});
