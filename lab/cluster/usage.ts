import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';

/** What containers of one kind took, at most and in all. */
export interface Usage {
  /** As kubelets count it towards the limit: what could not be reclaimed. Bytes. */
  readonly memory: number;
  /** Seconds of processor, of all of them together. */
  readonly cpuSeconds: number;
}

interface Sample {
  readonly pod: string;
  readonly node: string;
  readonly metric: string;
  readonly value: number;
  /** Starts with the container's: what is counted since then counts anew. */
  readonly boots: number;
}

const INTERVAL_MS = 5000;
const LINE =
  /^container_(memory_working_set_bytes|cpu_usage_seconds_total)\{.*namespace="([^"]+)",pod="([^"]+)"\} (\S+)/;

/** Follows what the operator's containers take, by the account of their kubelets, which `kubectl top` goes by as well. */
export class UsageMeter {
  readonly #nodes: readonly string[];
  /** How often a node has gone down so far, with all of its containers. */
  readonly #reboots: (node: string) => number;
  readonly #samples: Sample[] = [];

  constructor(nodes: readonly string[], reboots: (node: string) => number) {
    this.#nodes = nodes;
    this.#reboots = reboots;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await systemClock.sleep(INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  /** A kubelet that does not answer is down. */
  async look(): Promise<void> {
    for (const node of this.#nodes) {
      const path = `/api/v1/nodes/${node}/proxy/metrics/resource`;
      const { stdout } = await kubectl('get', '--raw', path).catch(() => ({ stdout: '' }));
      this.#samples.push(...samplesOf(stdout, { node, boots: this.#reboots(node) }));
    }
  }

  /** Of all containers whose pods' names begin so. */
  of(prefix: string): Usage {
    const own = this.#samples.filter(({ pod }) => pod.startsWith(prefix));
    const memory = own.filter(({ metric }) => metric.startsWith('memory')).map(({ value }) => value);
    const cpu = own.filter(({ metric }) => metric.startsWith('cpu'));
    const last = new Map(cpu.map(({ pod, boots, value }) => [`${pod} ${boots}`, value]));
    return { memory: Math.max(0, ...memory), cpuSeconds: [...last.values()].reduce((sum, value) => sum + value, 0) };
  }
}

function samplesOf(text: string, from: Pick<Sample, 'node' | 'boots'>): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, metric = '', namespace, pod = '', value] = LINE.exec(line) ?? [];
    return namespace === NAMESPACE ? [{ ...from, metric, pod, value: Number(value) }] : [];
  });
}
