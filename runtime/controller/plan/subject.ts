import type { NodeView, ShadowView, SlotView, Snapshot } from './snapshot.ts';

/** A node with what belongs to it (rule B4). A shadow of a former node of the same name does not, nor one that names no owner. */
export interface Subject {
  readonly node: NodeView;
  readonly shadow: ShadowView | undefined;
  /** There is a shadow of its name that names no owner. */
  readonly isShadowUnowned: boolean;
  readonly slot: SlotView | undefined;
  /** Since when no container of its agent runs; undefined while one does. */
  readonly silentSince: number | undefined;
}

/** Every node of the snapshot as a subject, by name, so that a plan does not depend on the order in which caches were filled. */
export function subjectsOf({ nodes, shadows, slots, silentSince }: Snapshot): Subject[] {
  const shadowsByName = new Map<string, ShadowView>();
  for (const shadow of shadows) shadowsByName.set(shadow.name, shadow);
  const slotsByUid = new Map(slots.map((slot) => [slot.nodeUid, slot]));
  return nodes
    .map((node) => {
      const shadow = shadowsByName.get(node.shadowName);
      return {
        node,
        shadow: shadow?.owners.includes(node.uid) ? shadow : undefined,
        isShadowUnowned: shadow?.owners.length === 0,
        slot: slotsByUid.get(node.uid),
        silentSince: silentSince.get(node.name),
      };
    })
    .toSorted((a, b) => compare(a.node.name, b.node.name));
}

/** Order of code units: the same everywhere, and fast. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Active by the contract: it has a status, and is or is wanted to be elsewhere than at rest. */
export function isActive({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return status !== undefined && (status.current_state !== 'Idle' || spec.state !== 'Idle');
}

/** At rest, as far as this view of it goes. */
export function isIdle({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return status?.current_state === 'Idle' && spec.state === 'Idle';
}
