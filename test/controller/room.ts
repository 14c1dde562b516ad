import { slotBytes } from '../../runtime/controller/plan/room.ts';
import { SLOTS_ANNOTATION } from '../../runtime/controller/slots/entries.ts';
import { CONTROLLER_LEASE, shadowName } from '../../runtime/shadow/names.ts';
import type { Stage } from './stage.ts';

/** What the API server takes of annotations on one object, bytes. */
const LIMIT = 262_144;

/** Bytes that the slot of this node takes on the list; nodes with names of one length take the same. */
export async function bytesOfSlot(stage: Stage, node: string): Promise<number> {
  return slotBytes({ shadow: shadowName(node), nodeUid: (await stage.nodes.get(node))!.metadata.uid });
}

/** A Lease on which somebody's annotation leaves room for so many slots of nodes with names like this. */
export async function leaseWithRoomFor(stage: Stage, slots: number, name = 'a'): Promise<void> {
  const list = `${SLOTS_ANNOTATION}[]`.length + slots * (await bytesOfSlot(stage, name));
  const annotations = { notes: 'x'.repeat(LIMIT - list - 'notes'.length) };
  await stage.leases.create({ metadata: { name: CONTROLLER_LEASE, annotations } });
}
