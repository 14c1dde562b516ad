/** The part of an object that names its owners. */
interface Owned {
  readonly metadata: {
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[] | null | undefined;
  };
}

/** UIDs of the Nodes that own the shadow; empty where nobody owns it. */
export function ownersOf({ metadata }: Owned): readonly string[] {
  return (metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'Node').map(({ uid }) => uid);
}

/** Whether the shadow belongs to the Node with this UID, and not to an earlier node of the same name or to nobody (rule B4). */
export function belongsTo(shadow: Owned, nodeUid: string): boolean {
  return ownersOf(shadow).includes(nodeUid);
}
