import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect } from 'node:tls';
import { PATHS } from '../../runtime/api/agent/protocol.ts';
import { PUBLIC_PATHS } from '../../runtime/apiserver/config.ts';
import type { AccessCredentials } from '../../runtime/kube/access.ts';
import {
  APISERVER_SERVICE,
  COMPONENTS,
  CRD_NAME,
  GROUP,
  NAMESPACE,
  PAUSED_ANNOTATION,
  PLURAL,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/api/shadow/semver.ts';
import { examples } from '../documents.ts';
import { shell } from '../shell.ts';
import { type AgentPod, agentPods, serviceAddress } from './agents.ts';
import { comesTrue } from './come-true.ts';
import { exchange } from './controlplane/exchange.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { type Ask, startLoad } from './load.ts';
import { verdict } from './looks.ts';
import { operatorRuns } from './operator.ts';
import { type Scene, Stage } from './scene.ts';
import { shortLived } from './service-tokens.ts';

/**
 * A token is on disk until it is 32.5 s old (four fifths of its life, and half a second between two looks), then in a process for a minute
 * more, and the API server takes it until it is 100 s old: 7.5 s are left for a busy machine. A longer life leaves more, and takes longer.
 */
const TOKEN_SECONDS = 40;
const V1_SHADOW = `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/${PLURAL}/${shadowName('node-1')}`;
const LEAF = 'brupop-apiserver-certificate';

let stage: Stage;
let scene: Scene;
/** Each agent's tokens when it had just started. */
let first: ReadonlyMap<AgentPod, Awaited<ReturnType<AgentPod['tokens']>>>;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=`);
  const reissue = shortLived(stage.cluster, TOKEN_SECONDS);
  scene = await stage.startFleet({ nodes: 3, renewal: { everyMs: 500, reissue } });
  await operatorRuns(scene);
  const pods = await agentPods(scene);
  first = new Map(await Promise.all(pods.map(async (pod) => [pod, await pod.tokens()] as const)));
  // An agent that runs may not have made its shadow yet.
  await kubectl('wait', '--for=create', `brs/${shadowName('node-1')}`, '-n', NAMESPACE, '--timeout=60s');
});

afterAll(() => stage.strike(), 60_000);

test('a certificate that is renewed under load is served by every replica, and no request is lost', async () => {
  const processes = scene.fleet.pods.pids(COMPONENTS.apiserver);
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const load = startLoad([...[...first.keys()].map(askAsAgent), askV1, await askOverOne(kept)]);
  const before = await certificate();

  // What `cmctl renew` does.
  const condition = { type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'renewed by hand' };
  const patch = JSON.stringify({ status: { conditions: [condition] } });
  await kubectl('patch', 'certificate', LEAF, '-n', NAMESPACE, '--subresource=status', '--type=merge', '-p', patch);
  await comesTrue(async () => (await certificate()) !== before);
  const renewed = await certificate();
  await comesTrue(async () => (await served(9)).every((shown) => shown === renewed));

  const { asked, faults } = await load.stop();
  kept.destroy();
  expect(faults).toEqual([]);
  expect(asked).toBeGreaterThan(100);
  expect(scene.fleet.pods.pids(COMPONENTS.apiserver)).toEqual(processes);
});

test('the CA gets a new key by the documented commands, in the middle of a rollout, which goes on after it', async () => {
  const old = await caBundle();
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  await scene.until(({ nodes }) => [...nodes.values()].some(({ spec }) => spec?.unschedulable));

  const { kubeconfig, dir: home } = stage.cluster;
  for (const [, commands] of examples('docs/security.md', 'sh')) {
    const { code, stderr } = await shell(`set -e\n${commands}`, { kubeconfig, home });
    expect({ commands, code, stderr: code === 0 ? '' : stderr }).toEqual({ commands, code: 0, stderr: '' });
  }

  expect(await caBundle()).not.toBe(old);
  expect(await secretFile('brupop-root-ca-secret', 'tls.crt')).toBe(await caBundle());
  for (const { api, caller } of await agentPods(scene))
    await comesTrue(async () => (await api.createShadow(caller)).kind === 'ok');
  expect(await askV1()).toBeUndefined();
  // Until then a node that waits rests, as far as anybody can tell.
  await scene.until((history) =>
    [...history.nodes.keys()].every((name) => verdict(history, name)?.reason !== 'Paused'),
  );
  await scene.rolledOver();
  const nodes = [...scene.history.nodes.values()];
  expect(nodes.map(({ status }) => versionOfOsImage(status?.nodeInfo?.osImage))).toEqual(Array(3).fill('1.39.0'));
});

test('tokens that have expired are refused, and all processes work on with those that have replaced them', async () => {
  for (const [{ caller }, { operator, kubernetes }] of first) {
    const headers = { BrupopNodeName: caller.nodeName, BrupopNodeUid: caller.nodeUid, BrupopK8sAuthToken: operator };
    // The API server takes a token for a minute after its end, and each replica may know it for some seconds more.
    await comesTrue(async () => (await statuses(6, headers)).every((status) => status === 401));
    await comesTrue(async () => (await statusAtKubernetes(kubernetes, caller.nodeName)) === 401);
  }
  for (const pod of await agentPods(scene))
    expect(await statusAtKubernetes((await pod.tokens()).kubernetes, pod.caller.nodeName)).toBe(200);
  const name = shadowName('node-1');
  const before = scene.history.shadows.get(name)?.metadata.uid;
  await kubectl('delete', 'brs', name, '-n', NAMESPACE);
  // The agent asks, the apiserver creates, the agent reports, the controller says what it makes of it.
  await scene.until(({ shadows }) => {
    const shadow = shadows.get(name);
    return shadow?.metadata.uid !== before && shadow?.status?.conditions?.some(({ reason }) => reason === 'UpToDate');
  });
  await operatorRuns(scene);
}, 150_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene)).toEqual([]);
});

/** The request of an agent that changes nothing: for a shadow that it has. */
function askAsAgent({ api, caller }: AgentPod): Ask {
  return async () => {
    const answer = await api.createShadow(caller);
    return answer.kind === 'ok' ? undefined : JSON.stringify(answer);
  };
}

/** Shadows are stored as v2, so the API server asks the webhook. For a list it need not: that may be in its cache, converted before. */
async function askV1(): Promise<undefined> {
  await stage.cluster.transport.request({ method: 'GET', path: V1_SHADOW });
  return undefined;
}

/** On a connection that is kept for all of it. */
async function askOverOne(agent: Agent): Promise<Ask> {
  const address = await serviceAddress();
  return async () => {
    const outgoing = request({ ...address, agent, path: PUBLIC_PATHS.ping, rejectUnauthorized: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode === 200 ? undefined : `ping: ${response.statusCode}`;
  };
}

async function secretFile(secret: string, file: string): Promise<string> {
  const path = `jsonpath={.data.${file.replaceAll('.', String.raw`\.`)}}`;
  return (await kubectl('get', 'secret', secret, '-n', NAMESPACE, '-o', path)).stdout;
}

async function caBundle(): Promise<string> {
  const path = 'jsonpath={.spec.conversion.webhook.clientConfig.caBundle}';
  return (await kubectl('get', 'crd', CRD_NAME, '-o', path)).stdout;
}

/** Fingerprint of the certificate that cert-manager has issued last. */
async function certificate(): Promise<string> {
  return new X509Certificate(Buffer.from(await secretFile(LEAF, 'tls.crt'), 'base64')).fingerprint256;
}

/** Fingerprints of what so many new connections are shown; they go to the replicas in turn. */
async function served(connections: number): Promise<string[]> {
  const address = await serviceAddress();
  const fingerprints: string[] = [];
  for (let left = connections; left > 0; left--) {
    const socket = connect({
      ...address,
      servername: `${APISERVER_SERVICE}.${NAMESPACE}.svc`,
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    fingerprints.push(socket.getPeerCertificate().fingerprint256);
    socket.destroy();
  }
  return fingerprints;
}

/** What the Kubernetes API answers to who reads a Node with this token. */
async function statusAtKubernetes(token: string, node: string): Promise<number> {
  const { port, caPem } = stage.cluster.api;
  const credentials = async (): Promise<AccessCredentials> => ({
    tls: { ca: caPem },
    headers: { authorization: `Bearer ${token}` },
  });
  const access = { server: `https://127.0.0.1:${port}`, credentials };
  return (await exchange(access, { path: `/api/v1/nodes/${node}` })).status;
}

/** Answers to so many of the same request; they come from the replicas in turn. */
async function statuses(count: number, headers: Readonly<Record<string, string>>): Promise<(number | undefined)[]> {
  const answers: (number | undefined)[] = [];
  while (answers.length < count) answers.push(await statusOf(headers));
  return answers;
}

/** What the operator's apiserver answers to an agent's request with these headers. */
async function statusOf(headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const options = {
    ...(await serviceAddress()),
    method: 'POST',
    path: PATHS.resource,
    headers,
    rejectUnauthorized: false,
  };
  const outgoing = request({ ...options, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
