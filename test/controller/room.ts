import { slotBytes } from '../../runtime/controller/plan/room.ts';
import { capacityOn } from '../../runtime/controller/slots/entries.ts';
import { CONTROLLER_LEASE, shadowName } from '../../runtime/shadow/names.ts';
import type { Stage } from './stage.ts';

/** Bytes that the slot of this node takes on the list; nodes with names of one length take the same. */
export async function bytesOfSlot(stage: Stage, node: string): Promise<number> {
  return slotBytes({ shadow: shadowName(node), nodeUid: (await stage.nodes.get(node))!.metadata.uid });
}

/** A Lease on which somebody's annotation leaves room for so many slots of nodes with names like this. */
export async function leaseWithRoomFor(stage: Stage, slots: number, name = 'a'): Promise<void> {
  const others = capacityOn(undefined) - slots * (await bytesOfSlot(stage, name));
  const annotations = { notes: 'x'.repeat(others - 'notes'.length) };
  await stage.leases.create({ metadata: { name: CONTROLLER_LEASE, annotations } });
}
