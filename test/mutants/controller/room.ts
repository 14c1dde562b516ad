import type { Mutant } from '../mutant.ts';
import { rowsOf } from './rows.ts';

/** Rule L7: no more starts at once than the Lease has room for. */
export const roomMutants: readonly Mutant[] = [
  ...rowsOf(
    'plan/room.ts',
    ['plan/room'],
    [
      ['L7', 'starts whatever room the Lease has', '|| slotBytes(slot) <= this.#left', '|| true'],
      [
        'L7',
        'does not count the slots that are listed',
        'slots.reduce((left, slot) => left - slotBytes(slot), slotCapacity)',
        'slotCapacity',
      ],
      ['L7', 'counts no start but the last', 'this.#left -= slotBytes(slot);', ''],
      [
        'L7',
        'asks for room once more for a slot that is listed',
        'this.#listed.has(slot.nodeUid) || slotBytes',
        'slotBytes',
      ],
      ['L7', 'counts the names alone', 'FRAME + shadow.length', 'shadow.length'],
    ],
  ),
  ...rowsOf(
    'plan/places.ts',
    ['plan/room'],
    [
      ['L7', 'does not say that the list is full', 'return NO_ROOM;', 'return WAITING;'],
      [
        'L7',
        'wakes up for a place that comes back where there is no room',
        'if (!this.#room.fits(slot)) return NO_ROOM;',
        'if (!this.#room.fits(slot)) {\n      this.#short = 1;\n      return NO_ROOM;\n    }',
      ],
    ],
  ),
  ...rowsOf(
    'slots/entries.ts',
    ['slots/entries'],
    [
      ['L7', 'takes the whole Lease for its own', 'Math.max(SPARE, Buffer', 'Math.min(SPARE, Buffer'],
      ['L7', 'leaves nothing to others', 'Math.max(SPARE, ', '('],
      ['L7', 'counts what the list has by now against it', ", [SLOTS_ANNOTATION]: '[]' }", ' }'],
    ],
  ),
  ...rowsOf(
    'controller.ts',
    ['full-lease'],
    [['L7', 'does not look at the Lease', 'slotCapacity: capacityOn(lease)', 'slotCapacity: Infinity']],
  ),
  ...rowsOf(
    'why/look.ts',
    ['why/why'],
    [
      [
        'L7',
        'says of a full Lease that nodes are being updated',
        'slotCapacity: capacityOn(lease)',
        'slotCapacity: Infinity',
      ],
    ],
  ),
  ...rowsOf(
    'executor.ts',
    ['full-lease'],
    [
      [
        'L7',
        'asks again and again for what the API server takes in no case',
        "swapped === 'too-much' && starts.length > 1",
        'starts.length < 0',
      ],
    ],
  ),
  {
    rule: 'L7',
    without: 'the embedded cluster takes annotations of any length',
    file: 'sim/cluster/metadata.ts',
    find: 'size > ANNOTATIONS_LIMIT',
    replace: 'size > Infinity',
    tests: ['test/contract/objects.test.ts'],
    name: 'annotations',
  },
];
