import { expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrupopChart } from '../../infra/index.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';
import { Receiver } from '../controller/notifications/receiver.ts';
import { until as eventually } from '../in-time.ts';
import { isOver, until, withRollout } from './support.ts';

/** What nobody may see but the servers that are told. */
const SECRET = 'hunter2';

interface Told {
  readonly id: string;
  readonly type: string;
}

/** The operator with a bus that is told everything, a chat whose Secret nobody has made, and an Alertmanager. */
function notifying(bus: Receiver, alertmanager: Receiver): readonly Manifest[] {
  const chart = new BrupopChart(new App(), 'brupop', {
    controller: { nodeReturnTimeoutInSec: 18 },
    notifications: {
      targets: [
        { name: 'chat', format: 'slack', secret: 'nobody-made-it' },
        { name: 'bus', format: 'cloudevents', secret: 'bus' },
      ],
      silences: [{ name: 'main', secret: 'alertmanager' }],
    },
  });
  const secret = (name: string, { port }: Receiver): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE },
    data: { url: Buffer.from(`http://127.0.0.1:${port}/${SECRET}`).toString('base64') },
  });
  return [...(chart.toJson() as Manifest[]), secret('bus', bus), secret('alertmanager', alertmanager)];
}

function filesBelow(dir: string): readonly string[] {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((one) => one.isFile() && one.name.endsWith('.log'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

test('a rollout tells its beginning and its end once, and silences each node, though the controller is killed in mid-drain', async () => {
  let made = 0;
  const bus = await new Receiver((_, response) => response.writeHead(204).end()).listen();
  const alertmanager = await new Receiver(({ method }, response) => {
    response.end(method === 'POST' ? JSON.stringify({ silenceID: `s${++made}` }) : '');
  }).listen();
  // What a controller had sent and not written down yet as it was killed is sent again, with the same id.
  const facts = (): readonly Told[] => {
    const all = bus.received.map(({ body }) => JSON.parse(body) as Told);
    return [...new Map(all.map((one) => [one.id, one])).values()];
  };
  const asked = (method: string) => alertmanager.received.filter((one) => one.method === method);
  try {
    await withRollout({ options: { nodes: 2 }, edit: () => notifying(bus, alertmanager) }, async (rollout) => {
      const { pods, cluster } = rollout.world;
      await until(rollout, () => [...rollout.recorder.shadows.values()].some(({ status }) => status?.drain));
      const killed = pods.pids('brupop-controller');
      expect(killed.length).toBeGreaterThan(0);
      for (const pid of killed) process.kill(pid, 'SIGKILL');
      await isOver(rollout);
      expect(rollout.summary().faults).toEqual([]);
      const isEnded = (): boolean => asked('DELETE').at(-1)?.path === `/${SECRET}/api/v2/silence/s${made}`;
      await eventually('all is told', () => facts().length > 1 && isEnded());
      expect(facts().map(({ type }) => type)).toEqual([
        'aws.bottlerocket.brupop.RolloutStarted',
        'aws.bottlerocket.brupop.RolloutComplete',
      ]);
      const silenced = asked('POST').map(({ body }) => (JSON.parse(body) as { comment: string }).comment);
      expect([...new Set(silenced)].toSorted()).toEqual([
        'node node-1 is being updated',
        'node node-2 is being updated',
      ]);
      expect(cluster.audit.filter(({ code }) => code === 403)).toEqual([]);
      const logs = filesBelow(rollout.dir).map((file) => readFileSync(file, 'utf8'));
      expect(logs.join('')).toMatch('its Secret is not there, or has no url');
      expect(logs.join('')).not.toMatch(SECRET);
    });
  } finally {
    bus.close();
    alertmanager.close();
  }
});
