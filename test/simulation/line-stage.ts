import { type Clock } from '../../runtime/lib/clock.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { ADMIN, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { seeded } from '../random.ts';
import { Life, ProcessClock, TrueTime } from './clock.ts';
import { History } from './history.ts';
import { Moments } from './moments.ts';
import { SimulatedNetwork } from './network.ts';
import type { Entry, Phase, Process, Struck } from './types.ts';

const NODE = '/api/v1/nodes/n1';
const CORDON = { spec: { unschedulable: true } };

/** One apiserver that speaks with a Kubernetes API in which there is one Node. */
export async function line() {
  const time = new TrueTime(seeded(1));
  const cluster = new EmbeddedCluster({ clock: time, random: seeded(2) });
  const moments = new Moments(time);
  const entries: Entry[] = [];
  const history = new History(
    () => time.monotonic(),
    (entry) => entries.push(entry),
  );
  const agentRuns = (): boolean => true;
  const network = new SimulatedNetwork({ time, cluster, history, moments, agentRuns, random: seeded(3) });
  const admin = cluster.transport(ADMIN);
  await admin.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n1' } } });
  const life = new Life();
  const process = { name: 'apiserver-0', kind: 'apiserver', kill: () => life.end() } as Process;
  const clock: Clock = new ProcessClock(time, life, () => 0);
  const kube: KubeTransport = network.kube({ process, life, user: ADMIN });
  const heard: string[] = [];
  const hear = (work: Promise<unknown>, name = 'answer'): void => {
    work.then(
      () => heard.push(name),
      (error: Error) => heard.push(`${error.name}: ${error.message}`),
    );
  };
  return {
    time,
    network,
    entries,
    moments,
    life,
    kube,
    clock,
    heard,
    hear,
    cordon: (): void => hear(patch(kube, CORDON)),
    change: (value: string): Promise<unknown> => patch(admin, { metadata: { labels: { value } } }),
    isCordoned: async (): Promise<boolean> => {
      const { spec } = (await admin.request({ method: 'GET', path: NODE })) as { spec?: { unschedulable?: boolean } };
      return spec?.unschedulable === true;
    },
    /** Lets something happen to the process around its cordon. */
    strike: (phase: Phase, happen: (struck: Struck) => void, begins = true): void =>
      moments.aim({ kind: 'moment', moment: 'cordon', phase, from: 0, delayMs: 0 }, (struck) => {
        happen(struck);
        return begins;
      }),
    counts: (): object | undefined => moments.counts['cordon'],
    advance: (ms: number): Promise<void> => time.run(time.monotonic() + ms),
  };
}

function patch(transport: KubeTransport, body: object): Promise<unknown> {
  return transport.request({ method: 'PATCH', path: NODE, body, contentType: 'application/merge-patch+json' });
}
