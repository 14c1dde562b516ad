import { expect } from '@jest/globals';
import type { PlanReport } from '../../runtime/controller/telling/plan-report.ts';
import { COMPONENTS, CONTROLLER_PORT_NAME, CONTROLLER_SERVICE, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { comesTrue } from './come-true.ts';
import { OWN_ADDRESS } from './controlplane/pki.ts';
import { kubectl } from './kubectl.ts';
import type { Judged, Plugin, Verdicts } from './plugin.ts';
import type { Scene } from './scene.ts';

const PLAN = `/api/v1/namespaces/${NAMESPACE}/services/http:${CONTROLLER_SERVICE}:${CONTROLLER_PORT_NAME}/proxy/plan`;

const judged = ({ node, reason, message }: Judged) => ({ node, reason, message });

/** The API server proxies to nothing but addresses of pods, and these have none that it could dial. */
async function addressed(): Promise<void> {
  const selector = `app.kubernetes.io/component=${COMPONENTS.controller}`;
  const { stdout } = await kubectl('get', 'pods', '-n', NAMESPACE, '-l', selector, '-o', 'name');
  const status = JSON.stringify({ status: { podIP: OWN_ADDRESS, podIPs: [{ ip: OWN_ADDRESS }] } });
  for (const pod of stdout.trim().split('\n'))
    await kubectl('patch', pod, '-n', NAMESPACE, '--subresource', 'status', '--type', 'merge', '-p', status);
  await comesTrue(async () => (await served()).length > 0);
}

async function served() {
  const { verdicts } = JSON.parse((await kubectl('get', '--raw', PLAN)).stdout) as PlanReport;
  return verdicts.map(judged);
}

/** Holds `why` to what is served on `/plan`, of a fleet in which nothing happens: while the leader answers, and while it is killed. */
export async function asLeaderSays({ fleet }: Scene, plugin: Plugin): Promise<void> {
  const said = async () => {
    const { source, notKnown, nodes } = await plugin.json<Verdicts>(['why']);
    return { source, notKnown, nodes: nodes.map(judged) };
  };
  await addressed();
  const nodes = await served();
  expect(await said()).toEqual({ source: 'leader', notKnown: [], nodes });
  const notKnown = [expect.stringMatching(/^the leader's own plan: .*; this one is made here$/)];
  // Again and again, since each is started anew.
  const kills = setInterval(() => {
    for (const pid of fleet.pods.pids(COMPONENTS.controller)) process.kill(pid, 'SIGKILL');
  }, 50);
  try {
    await comesTrue(async () => (await said()).source === 'here');
    expect(await said()).toEqual({ source: 'here', notKnown, nodes });
  } finally {
    clearInterval(kills);
  }
  await comesTrue(async () => {
    const { source, nodes: told } = await said();
    return source === 'leader' && told.every(({ reason }) => reason !== 'NotCurrent');
  });
  expect(await said()).toEqual({ source: 'leader', notKnown: [], nodes: await served() });
}
