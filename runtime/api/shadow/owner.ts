/** The part of an object that names its owners. */
interface Owned {
  readonly metadata: {
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[] | null | undefined;
  };
}

/** UIDs of the Nodes that own the shadow; empty where no Node does. */
export function ownersOf({ metadata }: Owned): readonly string[] {
  return (metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'Node').map(({ uid }) => uid);
}

/** Whether the shadow belongs to the Node with this UID (rule B4). It may belong to an earlier node of the same name, or to none. */
export function belongsTo(shadow: Owned, nodeUid: string): boolean {
  return ownersOf(shadow).includes(nodeUid);
}
