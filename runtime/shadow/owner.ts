/** The part of an object that says whose it is. */
interface Owned {
  readonly metadata: {
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[] | undefined;
  };
}

/** Whether the shadow belongs to the Node with this UID, and not to an earlier node of the same name. */
export function belongsTo(shadow: Owned, nodeUid: string): boolean {
  return shadow.metadata.ownerReferences?.some((owner) => owner.kind === 'Node' && owner.uid === nodeUid) ?? false;
}
