import { byWallClock, type Moment } from '../../lib/clock.ts';
import type { Rulings } from '../plan/facts/rulings.ts';
import type { NodeView, Snapshot } from '../plan/facts/snapshot.ts';

/** `claims`: of the policies. */
type Seen = Pick<Snapshot, 'nodes' | 'policies'> & Pick<Rulings, 'claims'>;

/** How a node was at the last look. */
interface Known {
  readonly unwell: string | undefined;
  /** Since when, as this process has seen it; what was well at first sight, since its conditions turned; or -Infinity. Monotonic. */
  readonly since: number;
  /** What was made of which view. */
  readonly of: NodeView;
  readonly view: NodeView;
}

/** Nodes that their policy calls unwell are not Ready (rule P13). It remembers since when: what a plan decides on counts from there. */
export class Wellness {
  /** By UID of the node. */
  #known = new Map<string, Known>();

  /** The view of a node that is as it was is the same object. */
  see({ nodes, policies, claims }: Seen, moment: Moment): readonly NodeView[] {
    const before = this.#known;
    this.#known = new Map();
    if (!policies.some(({ kind, policy }) => kind === 'valid' && policy.unwell.length > 0)) return nodes;
    return nodes.map((node) => {
      const { unwell: signs } = claims.of(node).rules;
      const known = knownOf(node, { signs, last: before.get(node.uid) }, moment);
      this.#known.set(node.uid, known);
      return known.view;
    });
  }
}

interface Look {
  readonly signs: readonly string[];
  readonly last: Known | undefined;
}

function knownOf(node: NodeView, { signs, last }: Look, moment: Moment): Known {
  const unwell = node.signs?.find((sign) => signs.includes(sign));
  const since = last ? seenSince(unwell, last, moment) : statedSince({ node, signs, unwell }, moment);
  const seenAt = since === -Infinity ? since : byWallClock(since, moment);
  const view = unwell === undefined ? wellFrom(node, seenAt) : unwellFrom(node, unwell, seenAt);
  return { unwell, since, of: node, view: last && isSame(last, { of: node, unwell, view }) ? last.view : view };
}

const seenSince = (unwell: string | undefined, last: Known, { monotonic }: Moment): number =>
  (last.unwell === undefined) === (unwell === undefined) ? last.since : monotonic;

interface FirstSight {
  readonly node: NodeView;
  readonly signs: readonly string[];
  readonly unwell: string | undefined;
}

/** That it was unwell may have ended under an earlier leader: nobody has proven anything since. */
function statedSince({ node, signs, unwell }: FirstSight, { now, monotonic }: Moment): number {
  if (unwell !== undefined) return monotonic;
  const turns = signs.flatMap((sign) => node.conditionsAt?.[sign.split('=')[0] ?? ''] ?? []);
  return monotonic - Math.max(0, now - Math.max(...turns));
}

const isSame = (a: Omit<Known, 'since'>, b: Omit<Known, 'since'>): boolean =>
  a.of === b.of && a.unwell === b.unwell && a.view.readyFrom === b.view.readyFrom;

function wellFrom(node: NodeView, seenAt: number): NodeView {
  if (!node.ready || seenAt <= node.readyFrom) return node;
  return {
    ...node,
    readyChangedAt: Math.max(node.readyChangedAt, seenAt),
    readinessSeenAt: Math.max(node.readinessSeenAt, seenAt),
    readyFrom: seenAt,
  };
}

/** One that is not Ready either has been so for as long as the cluster says. */
function unwellFrom(node: NodeView, unwell: string, seenAt: number): NodeView {
  if (!node.ready) return node;
  return {
    ...node,
    ready: false,
    wasReady: true,
    unwell,
    readyChangedAt: seenAt,
    readinessSeenAt: seenAt,
    readyFrom: seenAt,
  };
}
