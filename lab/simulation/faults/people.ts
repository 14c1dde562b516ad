import { HOUR, MINUTE, SECOND } from '../units.ts';
import { AT_ONCE, between, byPeople, type Kinds, ofNode } from './kind.ts';

const IN_MINUTES = [5 * SECOND, 30 * MINUTE] as const;
const FOR_AN_HOUR = [10 * SECOND, HOUR] as const;

export const peopleFaults: Kinds = {
  cordon: byPeople('an administrator cordons a node, and may forget it', 6, IN_MINUTES, 'cordon'),
  uncordon: byPeople('an administrator uncordons a node, and may cordon it again', 6, IN_MINUTES, 'uncordon'),
  unmanage: byPeople("a node's label is taken away, and put back later, or never", 4, [5 * SECOND, HOUR], 'unmanage'),
  'other-drainer': byPeople('another operator drains a node, and gives it back', 3, [MINUTE, 30 * MINUTE], 'drain'),
  broken: byPeople('somebody says of a node that it is broken', 3, FOR_AN_HOUR, 'sayBroken'),
  hold: byPeople('a node is held back', 3, FOR_AN_HOUR, 'hold'),
  pause: byPeople('everything is paused', 2, [10 * SECOND, 30 * MINUTE], 'pause'),
  'delete-shadow': byPeople('a shadow is deleted', 5, AT_ONCE, 'deleteShadow'),
  'edit-as-v1': byPeople('a shadow is written as a client of v1 writes it', 3, AT_ONCE, 'editAsV1'),
  'spec-idle': byPeople('an update is ended by hand: its spec is Idle', 1, AT_ONCE, 'endUpdate'),
  'edit-shadow': byPeople('a shadow is edited by hand', 2, AT_ONCE, 'editShadow'),
  'disown-shadow': byPeople('a shadow is taken from its owner, and deleted later', 1, IN_MINUTES, 'disownShadow'),
  'annotate-node': ofNode(
    'others write to a Node, or ask for its update',
    4,
    [SECOND, 5 * MINUTE],
    ({ people }, node, { random, forMs }) => {
      people.annotateNode(node);
      const end = forMs > between([SECOND, 5 * MINUTE], random) ? () => people.annotateNode(node) : undefined;
      if (random() < 0.5) people.askFor(node, random);
      return end;
    },
  ),
};
