import type { KubeObject } from '../../runtime/kube/objects.ts';
import { at, text } from '../sim/cluster/object.ts';
import { understand } from '../sim/cluster/request.ts';
import type { ApiRequest } from '../sim/cluster/cluster.ts';
import type { SentEntry } from './entries.ts';

type Sent = Omit<SentEntry, 'kind' | 'count'>;

/** So many requests are told of at once: each by itself would be too much to keep. */
export const TOLD_AT_ONCE = 10;

/** Counts requests when they are sent, whatever becomes of them. */
export class Tally {
  readonly #counts = new Map<string, number>();
  /** Where each pod is, or was last, by namespace and name: who asks again and again for one that is gone asks because of its node. */
  readonly #nodeOf = new Map<string, string>();

  /** For each pod that is written. */
  bind({ metadata: { namespace, name }, ...pod }: KubeObject): void {
    const node = at(pod, 'spec', 'nodeName');
    if (typeof node === 'string' && node !== '') this.#nodeOf.set(`${namespace}/${name}`, node);
  }

  /** Undefined until there are so many more that they are told of. */
  add(sent: Sent): SentEntry | undefined {
    const key = `${sent.by} ${sent.to} ${sent.ofPods ? 'pods on ' : ''}${sent.node ?? ''}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count % TOLD_AT_ONCE);
    return count === TOLD_AT_ONCE ? { kind: 'sent', ...sent, count } : undefined;
  }

  /** Which node a request to the Kubernetes API names: itself, its shadow, or a pod that is there. */
  about(request: ApiRequest): Pick<Sent, 'node' | 'ofPods'> {
    const { resource, query } = understand(request);
    if (!resource) return NONE;
    const { plural, namespace, name = text(at(request.body, 'metadata', 'name')) } = resource;
    if (plural === 'nodes') return { node: name || undefined, ofPods: false };
    if (plural === 'bottlerocketshadows') return { node: /^brs-(.+)$/.exec(name ?? '')?.[1], ofPods: false };
    if (plural !== 'pods') return NONE;
    return { node: nodeSelectedBy(query['fieldSelector']) ?? this.#nodeOf.get(`${namespace}/${name}`), ofPods: true };
  }
}

/** The node of which a list of pods is. */
export const nodeSelectedBy = (fieldSelector = ''): string | undefined =>
  /(?:^|,)spec\.nodeName==?([^,]+)/.exec(fieldSelector)?.[1];

const NONE = { node: undefined, ofPods: false };
