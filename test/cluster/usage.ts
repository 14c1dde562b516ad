import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';

/** The part of a kubelet's summary that is read here. */
interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers?: readonly {
      readonly startTime: string;
      readonly cpu?: { readonly usageCoreNanoSeconds?: number };
      readonly memory?: { readonly workingSetBytes?: number; readonly rssBytes?: number };
    }[];
  }[];
}

/** What containers of one kind took, at most and in all. */
export interface Usage {
  /** As kubelets count it towards the limit: what cannot be reclaimed. Bytes. */
  readonly workingSet: number;
  /** Anonymous memory, bytes. */
  readonly rss: number;
  /** Seconds of processor, of all of them together. */
  readonly cpuSeconds: number;
}

interface Sample extends Usage {
  readonly pod: string;
  /** The pod's name and the container's start. */
  readonly container: string;
}

const INTERVAL_MS = 5000;

/** Follows what the operator's containers take, by the account of their kubelets. */
export class UsageMeter {
  readonly #transport: KubeTransport;
  readonly #nodes: readonly string[];
  readonly #samples: Sample[] = [];

  constructor(transport: KubeTransport, nodes: readonly string[]) {
    this.#transport = transport;
    this.#nodes = nodes;
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
      const path = `/api/v1/nodes/${node}/proxy/stats/summary`;
      const summary = await this.#transport.request({ method: 'GET', path }).catch(() => undefined);
      if (summary) this.#samples.push(...samplesOf(summary as Summary));
    }
  }

  /** Of all containers whose pods' names begin so. */
  of(prefix: string): Usage {
    const own = this.#samples.filter(({ pod }) => pod.startsWith(prefix));
    const highest = (field: 'workingSet' | 'rss'): number => Math.max(0, ...own.map((sample) => sample[field]));
    // What a container has taken by the last look at it; one that was started again counts anew.
    const last = new Map(own.map(({ container, cpuSeconds }) => [container, cpuSeconds]));
    const cpuSeconds = [...last.values()].reduce((sum, seconds) => sum + seconds, 0);
    return { workingSet: highest('workingSet'), rss: highest('rss'), cpuSeconds };
  }
}

function samplesOf({ pods }: Summary): readonly Sample[] {
  const own = pods.filter(({ podRef }) => podRef.namespace === NAMESPACE);
  return own.flatMap(({ podRef, containers = [] }) =>
    containers.map(({ startTime, cpu, memory }) => ({
      pod: podRef.name,
      container: `${podRef.name} ${startTime}`,
      workingSet: memory?.workingSetBytes ?? 0,
      rss: memory?.rssBytes ?? 0,
      cpuSeconds: (cpu?.usageCoreNanoSeconds ?? 0) / 1e9,
    })),
  );
}
