import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { OLDEST_KUBERNETES } from '../../runtime/cli/doctor/before.ts';
import { doctor } from '../../runtime/cli/commands/doctor.ts';
import type { Answer } from '../../runtime/cli/command.ts';
import type { DoctorFinding } from '../../runtime/cli/doctor/finding.ts';
import { CONTROLLER_DEPLOYMENT, MANAGED_LABEL, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { read } from '../documents.ts';
import { allow, deploy, requestOn } from './deployed.ts';

/** `doctor` before the operator is there, and while it is only coming up. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a');
});
afterEach(() => stage.end());

async function installCertManager(): Promise<void> {
  const definitions = parseAllDocuments(await readFile('imports/crds/cert-manager.yaml', 'utf8'));
  for (const one of definitions)
    await stage.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', one.toJS() as object);
}

type Values = Parameters<typeof doctor.run>[0]['values'];
const ask = (values: Values, more: object = {}): Promise<Answer> =>
  doctor.run({ ...requestOn(stage), values, ...more });
const found = ({ value }: Answer): readonly string[] =>
  (value as { findings: DoctorFinding[] }).findings.map(({ state, check, says }) => `${state} ${check}: ${says}`);

test('a cluster that has all that the operator needs is said to, and one without cert-manager is not', async () => {
  const without = await ask({ pre: true });
  expect(without.exitCode).toBe(3);
  expect(found(without)).toContain('problem cert-manager: the cluster does not know Certificates');
  await installCertManager();
  const answer = await ask({ pre: true });
  expect(answer.exitCode).toBe(0);
  expect(found(answer)).toEqual([
    expect.stringMatching(/^ok kubernetes: the cluster is v1\.\d+/),
    'ok cert-manager: the cluster knows Certificates',
    'ok nodes: every node that runs Bottlerocket is labelled for updates',
    `unknown parts: ${NAMESPACE} has brupop-agent already, of no image`,
    'ok your rights: you may create what the operator begins with',
  ]);
});

test('nodes without the label, an operator that is there, and missing rights are named before installing', async () => {
  await installCertManager();
  await deploy(stage);
  await stage.patchNode('a', { metadata: { labels: { [MANAGED_LABEL]: null } } });
  await stage.patch('/api/v1/nodes/a/status', { status: { nodeInfo: { osImage: 'Bottlerocket OS 1.0.0 (x)' } } });
  await allow(stage, { kind: 'User', name: 'vera' }, { verbs: ['get', 'list'] });
  const transport = stage.cluster.transport({ username: 'vera', groups: ['system:authenticated'] });
  const said = found(await doctor.run({ ...requestOn(stage, [], { transport }), values: { pre: true } }));
  expect(said).toContain('problem nodes: no node is labelled for updates: Bottlerocket runs on a');
  expect(said).toContain(`unknown parts: ${NAMESPACE} has ${CONTROLLER_DEPLOYMENT} already, of x`);
  expect(said.at(-1)).toMatch(/^unknown your rights: you may not create namespaces, create customresource/);
});

test('the oldest Kubernetes is the one that is documented', () => {
  expect(read('README.md')).toContain(`| Kubernetes | 1.${OLDEST_KUBERNETES} to `);
});

/** Time goes on until it is answered, however long each look takes. */
async function waitedFor<T>(asked: Promise<T>): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const ended = asked.then(end, end);
  while (!over.signal.aborted) await Promise.race([ended, stage.pass(1000)]);
  return asked;
}

test('who waits is answered once there is no problem any more', async () => {
  let installed: Promise<void> | undefined;
  const said: string[] = [];
  const progress = (text: string): void => {
    said.push(text);
    installed ??= installCertManager();
  };
  const answer = await waitedFor(ask({ pre: true, wait: true }, { progress }));
  expect(said[0]).toBe('waits: the cluster does not know Certificates');
  expect(answer.exitCode).toBe(0);
});

test('who waits in vain is told what is left, or that the operator is not there', async () => {
  expect(await waitedFor(ask({ pre: true, wait: true, timeout: '30s' }))).toMatchObject({ exitCode: 3 });
  await expect(waitedFor(ask({ wait: true, timeout: '30s' }))).rejects.toThrow('has no Deployment');
});

test('the commands to run are for the same cluster and user as this one', async () => {
  await deploy(stage);
  await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, {
    metadata: { annotations: { 'brupop.bottlerocket.aws/paused': 'ann' } },
  });
  const { value } = await ask({ context: 'prod', as: 'olaf' });
  const todos = (value as { findings: DoctorFinding[] }).findings.map(({ todo }) => todo);
  expect(todos).toContain('kubectl brupop resume --context prod --as olaf ends that.');
  expect(todos).toContainEqual(
    expect.stringMatching(/^kubectl describe deployments \S+ -n brupop-bottlerocket-aws --context prod --as olaf says/),
  );
});

test.each([
  ['false', []],
  ['true', ['problem parts: there is no brupop-agent-updog']],
])('the agents of hosts of interface 1.0.0 are missed where such hosts are updated: %s', async (isOn, missed) => {
  await deploy(stage, { INTERFACE_V1: isOn });
  expect(found(await ask({})).filter((text) => text.includes('brupop-agent-'))).toEqual(missed);
});
