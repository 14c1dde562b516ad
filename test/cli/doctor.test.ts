import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { certificateFindings, webhookFindings } from '../../runtime/cli/doctor/cluster.ts';
import { clockFindings, leaderFindings } from '../../runtime/cli/doctor/clocks.ts';
import type { Facts } from '../../runtime/cli/doctor/facts.ts';
import type { DoctorFinding } from '../../runtime/cli/doctor/finding.ts';
import type { CustomResourceDefinition } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { CONTROLLER_DEPLOYMENT, CRD_NAME, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import { Stage } from '../controller/stage.ts';
import { allow, deploy } from './deployed.ts';
import { Reached } from './served.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const read = <T>(value: T) => ({ value, refused: undefined });
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const object = (name: string) => ({ metadata: { name, uid: name, resourceVersion: '1' } });

const states = (findings: readonly DoctorFinding[]): readonly string[] => findings.map(({ state }) => state);
const problems = (findings: readonly DoctorFinding[]): readonly string[] =>
  findings.filter(({ state }) => state === 'problem').map(({ says }) => says);

describe('certificates', () => {
  const certificate = (notAfter: string | null, ready = 'True') => ({
    ...object('server'),
    status: { notAfter, conditions: [{ type: 'Ready', status: ready as 'True', message: 'no issuer' }] },
  });
  const found = (one: object): readonly DoctorFinding[] =>
    certificateFindings({ certificates: read([one]) } as unknown as Facts, NOW);

  test('that end soon, have ended, or are not ready, are problems', () => {
    expect(states(found(certificate(at(60 * 24 * 30))))).toEqual(['ok']);
    expect(problems(found(certificate(at(60 * 24))))).toEqual(['server is good for 1 d']);
    expect(problems(found(certificate(at(-60))))).toEqual(['server ended 1 h ago']);
    expect(problems(found(certificate(at(60), 'False')))).toEqual(['server is not ready: no issuer']);
  });

  test('with nulls in place of times, or without a status, are not called good', () => {
    expect(states(found(certificate(null)))).toEqual(['unknown']);
    expect(states(found({ ...object('server'), status: null }))).toEqual(['problem']);
  });
});

test('the authority that the webhook is trusted by has to be there, and good', async () => {
  const { certPem } = await createCa(systemClock);
  const found = (caBundle: string, fault?: string, now = systemClock.now()): readonly DoctorFinding[] => {
    const spec = { conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle } } } };
    const definition = read({ ...object('crd'), spec });
    return webhookFindings({ definition, conversionFault: fault } as unknown as Facts, now);
  };
  const bundle = Buffer.from(certPem).toString('base64');
  expect(problems(found(bundle))).toEqual([]);
  expect(problems(found(''))).toEqual(["the definition's caBundle is empty"]);
  expect(problems(found(bundle, undefined, Date.parse('2200-01-01T00:00:00Z')))[0]).toMatch(/caBundle ended/);
  expect(problems(found(bundle, 'connection refused'))).toEqual(['shadows cannot be read as v1: connection refused']);
  expect(states(found(Buffer.from(certPem.slice(0, 200) + certPem.slice(-30)).toString('base64')))).not.toContain(
    'ok ok',
  );
});

test('a namespace that was changed by halves is named', () => {
  const metadata = { annotations: { 'cert-manager.io/inject-ca-from': 'elsewhere/server' } };
  const webhook = { clientConfig: { service: { namespace: 'updates' } } };
  const definition = { metadata, spec: { conversion: { strategy: 'Webhook', webhook } } };
  const facts = { definition: read(definition), conversionFault: undefined } as unknown as Facts;
  expect(problems(webhookFindings(facts, NOW))).toEqual([
    'its CA comes from elsewhere/server, and the apiserver is in updates',
  ]);
});

describe('clocks and leaders', () => {
  const nodes = ['a', 'b', 'c'].map((name) => ({ name, ready: name !== 'c', managed: true }));
  const lease = (name: string, renewTime: string | null) => ({ ...object(name), spec: { renewTime } });
  const facts = (...leases: readonly object[]) =>
    ({ serverTime: NOW, nodeLeases: read(leases), seen: { snapshot: { nodes } } }) as unknown as Facts;

  test('a kubelet that writes other times than the API server’s is named, and one that is down is not', () => {
    const leases = [lease('a', at(5)), lease('b', at(0)), lease('c', at(-60))];
    expect(problems(clockFindings(facts(...leases), NOW))).toEqual([
      'clocks of nodes differ, or their kubelets are late: a (5 min ahead)',
    ]);
    expect(problems(clockFindings(facts(lease('a', null)), NOW))).toEqual([]);
  });

  test('this machine’s clock is compared with the API server’s', () => {
    expect(problems(clockFindings(facts(), NOW - 600_000))).toEqual([
      "this machine's clock is 10 min behind the API server's",
    ]);
  });

  test('no leader, and a leader that has stopped to renew its Lease, are problems', () => {
    const found = (spec: object | undefined) =>
      problems(leaderFindings({ lease: read(spec && { ...object('l'), spec }), seen: {} } as unknown as Facts, NOW));
    expect(found(undefined)).toEqual(['no controller leads']);
    expect(found({ holderIdentity: null })).toEqual(['no controller leads']);
    expect(found({ holderIdentity: 'x', renewTime: at(0), leaseDurationSeconds: 15 })).toEqual([]);
    expect(found({ holderIdentity: 'x', renewTime: at(-9) })[0]).toMatch(/last heard of 9 min ago$/);
  });
});

describe('of a cluster', () => {
  let stage: Stage;
  let reached: Reached;
  beforeEach(async () => {
    stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 1000, 'a');
    await deploy(stage);
    await stage.pass(1000);
    reached = await Reached.of(stage.cluster);
  });
  afterEach(async () => {
    await reached.close();
    await stage.end();
  });

  interface Diagnosis {
    readonly problems: number;
    readonly findings: readonly DoctorFinding[];
  }

  test('what is wrong is said with what to do, as a table and as JSON, and the exit code is 3', async () => {
    const { code, out } = await reached.run('doctor');
    expect(code).toBe(3);
    expect(out).toMatch(/^BAD parts: there is no brupop-apiserver\n {6}-> Apply the manifests\.$/m);
    expect(out).toMatch(/-> kubectl describe daemonsets brupop-agent -n brupop-bottlerocket-aws says why/);
    expect(out).toMatch(/\n\nok: good; BAD: somebody has to act; .*\n$/);
    expect(out).toMatch(/^ok {2}leader: controller-1 leads$/m);
    expect(out).toMatch(/^ok {2}agents: an agent runs on each of the 1 labelled nodes/m);
    expect(out).toMatch(/^ok {2}your rights: you may do all that kubectl brupop does$/m);
    const asked = await reached.run('doctor', '-o', 'json');
    const { problems: count, findings } = JSON.parse(asked.out) as Diagnosis;
    expect(asked.code).toBe(3);
    expect(count).toBe(findings.filter(({ state }) => state === 'problem').length);
    for (const { state, todo } of findings) if (state === 'problem') expect(todo).toBeTruthy();
  });

  test('a user with view rights alone is told so, and that is no problem of the operator', async () => {
    const viewer = { username: 'vera', groups: ['system:authenticated'] };
    await allow(stage, { kind: 'User', name: 'vera' }, { verbs: ['get', 'list'] });
    const out = await reached.as(viewer, 'doctor', '-o', 'json');
    const rights = (JSON.parse(out.out) as Diagnosis).findings.filter(({ check }) => check === 'your rights');
    expect(rights.map(({ state, says }) => `${state}: ${says.replace('you may not ', '')}`)).toEqual([
      'unknown: patch nodes, which hold, unhold, now, retry, cleanup do',
      'unknown: patch namespaces, which pause, resume do',
      'unknown: patch bottlerocketupdatepolicies, which pause POLICY, resume POLICY do',
      'unknown: create bottlerocketreleases, which halt, approve, expedite do',
      'unknown: patch bottlerocketreleases, which halt, allow, approve, expedite, rollback do',
      'unknown: patch bottlerocketreleases/status, which clear do',
    ]);
  });

  test('a user without view rights is told which rights lack, and what to ask for', async () => {
    const { code, err, out } = await reached.as({ username: 'nobody', groups: ['system:authenticated'] }, 'doctor');
    expect({ code, err }).toEqual({ code: 3, err: '' });
    expect(out).toMatch(/^BAD your rights: you may not list nodes, which .* do$/m);
    expect(out.match(/brupop-view/g)).toHaveLength(1);
    expect(out).toMatch(/bottlerocketreleases\/status, which clear do\n {6}-> .*brupop-view/);
    expect(out).toMatch(/^BAD your rights: you may not list bottlerocketshadows in /m);
    expect(out).toMatch(/^\? {3}your rights: you may not list poddisruptionbudgets, which plan do/m);
  });

  test('a webhook that fails is found though lists of v1 come, out of the API server’s cache', async () => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
    const { spec } = (await stage.get(path)) as CustomResourceDefinition;
    const versions = spec?.versions?.flatMap((one) => [one, { ...one, name: 'v1', storage: false }]);
    await stage.patch(path, { spec: { versions } });
    expect((await reached.run('doctor')).out).not.toContain('cannot be read as v1');
    const message = 'conversion webhook failed: connection refused';
    const failing = { kind: 'refuse', code: 500, reason: 'InternalError', message } as const;
    stage.cluster.disturb({ resource: 'bottlerocketshadows', verbs: ['get'] }, failing);
    expect((await reached.run('doctor')).out).toContain(`BAD webhook: shadows cannot be read as v1: ${message}\n`);
  });

  test('another operator, and what an older one has left in the agents, are problems', async () => {
    const say = async () => (await reached.run('doctor')).out;
    expect(await say()).not.toMatch(/other operators|older fields/);
    const selector = { matchLabels: { app: 'x' } };
    const pod = (spec: object) => ({ selector, template: { metadata: { labels: { app: 'x' } }, spec } });
    const container = { name: 'brupop', image: 'x' };
    await stage.create('/api/v1/namespaces', { metadata: { name: 'node-updates' } });
    await stage.create('/apis/apps/v1/namespaces/node-updates/deployments', {
      metadata: { name: CONTROLLER_DEPLOYMENT },
      spec: pod({ containers: [container] }),
    });
    const shadow = {
      apiVersion: 'brupop.bottlerocket.aws/v2',
      kind: 'BottlerocketShadow',
      metadata: { name: 'brs-a' },
      spec: { state: 'Idle' },
    };
    await stage.create('/apis/brupop.bottlerocket.aws/v2/namespaces/node-updates/bottlerocketshadows', shadow);
    const older = {
      containers: [{ ...container, resources: { limits: { cpu: '10m' } } }],
      volumes: [{ name: 'bottlerocket-apiclient', hostPath: { path: '/bin/apiclient', type: 'File' } }],
    };
    const template = { spec: older };
    await stage.patch(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/brupop-agent`, { spec: { template } });
    const out = (await say()).replaceAll(/\s+/g, ' ');
    expect(out).toContain(
      `BAD other operators: there is another one beside this: Deployment node-updates/${CONTROLLER_DEPLOYMENT}, shadows in node-updates`,
    );
    expect(out).toContain(
      "BAD older fields: brupop-agent still has a CPU limit of 10m, the host's apiclient of the older operator",
    );
    expect(out).toContain('kubectl delete daemonsets brupop-agent --cascade=orphan -n brupop-bottlerocket-aws, then');
  });

  test('shadows stored as v1 are a reason to keep the operator, and without it there is a way out', async () => {
    const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
    const webhook = { clientConfig: { url: 'https://127.0.0.1:1' }, conversionReviewVersions: ['v2'] };
    await stage.patch(crd, { spec: { conversion: { strategy: 'Webhook', webhook } } });
    await stage.patch(`${crd}/status`, { status: { storedVersions: ['v1', 'v2'] } });
    const say = async () => (await reached.run('doctor')).out.replaceAll(/\s+/g, ' ');
    expect(await say()).toContain('Do not take the operator away before');
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`;
    await stage.delete(path);
    expect(await say()).toContain(`kubectl patch crd ${CRD_NAME} --type merge`);
  });

  test('without the Deployment it is not guessed what the controller would do', async () => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`;
    await stage.delete(path);
    expect(await reached.run('doctor')).toMatchObject({ code: 1, err: expect.stringContaining('no Deployment') });
  });
});

describe('lifecycle conditions', () => {
  let stage: Stage;
  let reached: Reached;
  beforeEach(async () => {
    stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a');
    await deploy(stage, { NODE_LIFECYCLE_CONDITIONS: 'written', SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
    await stage.pass(5000);
    reached = await Reached.of(stage.cluster);
  });
  afterEach(async () => {
    await reached.close();
    await stage.end();
  });

  const found = async (check: string): Promise<readonly string[]> => {
    const { findings } = JSON.parse((await reached.run('doctor', '-o', 'json')).out) as { findings: DoctorFinding[] };
    return findings.filter((one) => one.check === check).map(({ state, says }) => `${state}: ${says}`);
  };

  test('that a controller is told to write, and may not, are a problem until it may', async () => {
    expect(await found('lifecycle conditions')).toEqual([
      'problem: the controller may not patch nodes/status, which NODE_LIFECYCLE_CONDITIONS=written needs',
    ]);
    const account = { kind: 'ServiceAccount', name: 'default', namespace: NAMESPACE } as const;
    await allow(stage, account, { resources: ['nodes/status'], verbs: ['patch'] });
    expect(await found('lifecycle conditions')).toEqual([expect.stringMatching(/^ok: /)]);
    expect(await found('leftovers')).toEqual([]);
  });

  test('that nobody keeps any more are left over, and those of others are not', async () => {
    const mine = { type: 'Drained', status: 'False', reason: 'Somebody' };
    await stage.patch('/api/v1/nodes/a/status', { status: { conditions: [mine] } });
    expect(await reached.json('leftovers')).toMatchObject({ leftovers: [] });
    const env = [{ name: 'NODE_LIFECYCLE_CONDITIONS', value: 'none' }];
    const template = { spec: { containers: [{ name: 'brupop', image: 'x', env }] } };
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`;
    await stage.patch(path, { spec: { template } });
    const what =
      'conditions MaintenancePlanned, DrainInProgress, MaintenanceInProgress: with NODE_LIFECYCLE_CONDITIONS=removed the controller takes them away';
    expect(await reached.json('leftovers')).toMatchObject({ leftovers: [{ node: 'a', whose: 'ours', what }] });
    expect(await found('lifecycle conditions')).toEqual([]);
    expect(await found('leftovers')).toEqual(['problem: something is left on a']);
  });
});
