import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AccessCredentials } from '../../runtime/kube/access.ts';
import { userAgent } from '../../runtime/kube/https.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import { auditOf, written } from './audit.ts';
import { type RealCluster, realCluster } from './cluster.ts';
import { exchange } from './controlplane/exchange.ts';
import { outagesIn } from './controlplane/outages.ts';
import type { Reboot } from './fleet.ts';
import { History } from './history.ts';
import { breaches } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { refusals } from './refusals.ts';

const NODES = ['node-1', 'node-2'];
const OPERATOR = `system:serviceaccount:${NAMESPACE}:brupop-apiserver-service-account`;
const AGENT = userAgent('agent');

let cluster: RealCluster;
const history = new History();
const watching = new AbortController();
let watched: Promise<void>;

beforeAll(async () => {
  cluster = await realCluster();
  watched = history.run(cluster.transport, watching.signal);
  const spec = { containers: [{ name: 'web', image: 'example.com/web:1' }], nodeName: 'node-1' };
  await applyAll(cluster.transport, [
    ...NODES.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })),
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default' }, spec },
  ]);
  await history.until(({ nodes, pods }) => nodes.size === 2 && pods.size === 1);
});

afterAll(async () => {
  watching.abort(new Error('the test is over'));
  await watched;
});

interface Seen {
  readonly byAudit: readonly string[];
  readonly byWatch: readonly string[];
}

async function seen(...reboots: readonly Reboot[]): Promise<Seen> {
  return {
    byAudit: breaches(written(await auditOf(cluster)), reboots, {}),
    byWatch: breaches(history.sightings, reboots, {}),
  };
}

test('the audit log and the watches each tell of a pod under which a node went down', async () => {
  const before: Reboot = { node: 'node-1', atMs: systemClock.now() };
  await kubectl('delete', 'pod', 'web', '--grace-period=0', '--force');
  await history.until(({ pods }) => pods.size === 0);
  const after: Reboot = { node: 'node-1', atMs: systemClock.now() };
  const breach = ['node-1 went down under default/web'];
  expect(await seen(before)).toEqual({ byAudit: breach, byWatch: breach });
  expect(await seen(after)).toEqual({ byAudit: [], byWatch: [] });
});

test('the audit log tells whose cordon was taken away by the operator', async () => {
  await kubectl('cordon', 'node-2');
  await kubectl('uncordon', 'node-2', `--as=${OPERATOR}`, '--as-group=system:masters');
  const { byAudit } = await seen();
  expect(byAudit).toEqual([`node-2: the cordon of controlplane-admin was taken away by ${OPERATOR}`]);
});

test('the audit log tells what the operator was refused, and when', async () => {
  expect(await refused()).toEqual([]);
  const startMs = systemClock.now();
  await expect(kubectl('get', 'secrets', '-n', 'default', `--as=${OPERATOR}`)).rejects.toThrow('Forbidden');
  expect(await statusOf({ authorization: 'Bearer expired' })).toBe(401);
  expect(await statusOf({})).toBe(403);
  const lines = (await refused()).map((line) => line.split(', first at '));
  expect(lines.map(([what]) => what)).toEqual([
    `${OPERATOR} was refused (403): list secrets in default`,
    `${AGENT} was refused (401): list nodes`,
    `${AGENT} as system:anonymous was refused (403): list nodes`,
  ]);
  const times = lines.map(([, at = '']) => Date.parse(at));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(startMs);
  expect(Math.max(...times)).toBeLessThanOrEqual(systemClock.now());
});

async function refused(): Promise<readonly string[]> {
  return refusals(await auditOf(cluster), await outagesIn(cluster.dir));
}

/** What a process that calls itself an agent is answered, with what it says besides. */
async function statusOf(said: Readonly<Record<string, string>>): Promise<number> {
  const credentials = async (): Promise<AccessCredentials> => ({
    tls: { ca: cluster.api.caPem },
    headers: { ...said, 'user-agent': AGENT },
  });
  const access = { server: `https://127.0.0.1:${cluster.api.port}`, credentials };
  return (await exchange(access, { path: '/api/v1/nodes' })).status;
}

test('the audit log and the watches each tell of two nodes that bore marks at once', async () => {
  for (const node of NODES) await kubectl('annotate', 'node', node, `${MARKS_ANNOTATION}={}`);
  await history.until(({ nodes }) =>
    [...nodes.values()].every(({ metadata }) => metadata.annotations?.[MARKS_ANNOTATION] !== undefined),
  );
  const { byAudit, byWatch } = await seen();
  expect(byAudit).toContain('marked at once: node-1, node-2');
  expect(byWatch).toEqual(['marked at once: node-1, node-2']);
});
