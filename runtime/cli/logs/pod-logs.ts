import { compare } from '../../controller/plan/facts/snapshot.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { inParallel } from '../../lib/parallel.ts';
import { ApiStatusError } from '../../kube/errors.ts';
import type { Pod } from '../../kube/objects.ts';
import { objectPath } from '../../kube/paths.ts';
import { podsPath } from '../../kube/resources.ts';
import { COMPONENT_LABEL } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';

/** A line that a container of ours wrote. */
export interface LogLine {
  /** RFC 3339 with milliseconds, by the clock of the pod's node. */
  readonly at: string;
  readonly component: string;
  readonly pod: string;
  readonly text: string;
}

export interface Logs {
  /** In the order of time. */
  readonly lines: readonly LogLine[];
  /** The logs that could not be read, with the reason. */
  readonly unknown: readonly string[];
}

interface LogWish {
  readonly sinceMs: number;
  /** Most lines of each container: the newest. */
  readonly most: number;
}

/** Requests at once: each is passed on to a kubelet. */
const AT_ONCE = 8;

/** The logs of pods through the API server, those of containers before their last restart included. */
export async function readLogs(cluster: Cluster, pods: readonly Pod[], wish: LogWish): Promise<Logs> {
  const read = await inParallel(pods, AT_ONCE, (pod) => logsOf(cluster, pod, wish));
  const lines = read.flatMap((one) => one.lines);
  return {
    lines: lines.toSorted((a, b) => compare(a.at, b.at)),
    unknown: read.flatMap((one) => one.unknown),
  };
}

async function logsOf(cluster: Cluster, pod: Pod, wish: LogWish): Promise<Logs> {
  const [container] = pod.status?.containerStatuses ?? [];
  const runs = (container?.restartCount ?? 0) > 0 ? [true, false] : [false];
  const texts = await Promise.all(runs.map((previous) => textOf(cluster, pod, { ...wish, previous })));
  return {
    lines: texts.flatMap(({ text }) => linesOf(pod, text)),
    unknown: texts.flatMap(({ refused }) =>
      refused === undefined ? [] : [`the log of ${pod.metadata.name}: ${refused}`],
    ),
  };
}

interface OneRun extends LogWish {
  /** The container that ran before the last restart. */
  readonly previous: boolean;
}

async function textOf({ transport, namespace }: Cluster, { metadata, spec }: Pod, { sinceMs, most, previous }: OneRun) {
  const [container] = spec?.containers ?? [];
  const query = {
    timestamps: 'true',
    sinceSeconds: String(Math.max(1, Math.ceil(sinceMs / 1000))),
    tailLines: String(most),
    ...(container && { container: container.name }),
    ...(previous && { previous: 'true' }),
  };
  const path = objectPath(podsPath(namespace), metadata.name, 'log');
  try {
    return { text: String(await transport.request({ method: 'GET', path, query, text: true })), refused: undefined };
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    // What ran before is removed with time. A node that is away cannot be asked.
    return { text: '', refused: previous ? undefined : (error.status.message ?? `it answers ${error.status.code}`) };
  }
}

/** Each line begins with its time, in nanoseconds. */
function linesOf({ metadata }: Pod, text: string): readonly LogLine[] {
  const component = metadata.labels?.[COMPONENT_LABEL] ?? '';
  return text.split('\n').flatMap((line): LogLine[] => {
    const space = line.indexOf(' ');
    const at = space < 0 ? undefined : instantOf(line.slice(0, space));
    if (at === undefined) return [];
    return [{ at: rfc3339(at, { millis: true }), component, pod: metadata.name, text: line.slice(space + 1) }];
  });
}
