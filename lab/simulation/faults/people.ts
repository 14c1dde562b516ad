import { AT_ONCE, between, HOUR, type Kinds, MINUTE, ofNode, SECOND } from './kind.ts';

const IN_MINUTES = [5 * SECOND, 30 * MINUTE] as const;
const FOR_AN_HOUR = [10 * SECOND, HOUR] as const;

export const peopleFaults: Kinds = {
  cordon: ofNode(
    'an administrator cordons a node, and may forget it',
    6,
    IN_MINUTES,
    ({ people }, node, { random }) => {
      people.cordon(node);
      return random() < 0.5 ? () => people.uncordon(node) : undefined;
    },
  ),
  uncordon: ofNode(
    'an administrator uncordons a node, and may cordon it again',
    6,
    IN_MINUTES,
    ({ people }, node, { random }) => {
      people.uncordon(node);
      return random() < 0.4 ? () => people.cordon(node) : undefined;
    },
  ),
  unmanage: ofNode(
    "a node's label is taken away, and put back later, or never",
    4,
    [5 * SECOND, HOUR],
    ({ people }, node, { random }) => {
      people.setManaged(node, false);
      return random() < 0.9 ? () => people.setManaged(node, true) : undefined;
    },
  ),
  'other-drainer': ofNode(
    'another operator drains a node, and gives it back',
    3,
    [MINUTE, 30 * MINUTE],
    ({ people }, node) => {
      people.drain(node);
      return () => people.uncordon(node);
    },
  ),
  broken: ofNode('somebody says of a node that it is broken', 3, FOR_AN_HOUR, ({ people }, node) => {
    people.sayBroken(node, true);
    return () => people.sayBroken(node, false);
  }),
  hold: ofNode('a node is held back', 3, FOR_AN_HOUR, ({ people }, node) => people.hold(node)),
  pause: ofNode('everything is paused', 2, [10 * SECOND, 30 * MINUTE], ({ people }) => people.pause()),
  'delete-shadow': ofNode('a shadow is deleted', 5, AT_ONCE, ({ people }, node) => people.deleteShadow(node)),
  'edit-as-v1': ofNode('a shadow is written as a client of v1 writes it', 3, AT_ONCE, ({ people }, node) =>
    people.editAsV1(node),
  ),
  'spec-idle': ofNode('an update is ended by hand: its spec is Idle', 1, AT_ONCE, ({ people }, node) =>
    people.endUpdate(node),
  ),
  'edit-shadow': ofNode('a shadow is edited by hand', 2, AT_ONCE, ({ people }, node, { random }) =>
    people.editShadow(node, random),
  ),
  'annotate-node': ofNode('others write to a Node', 4, [SECOND, 5 * MINUTE], ({ people }, node, { random, forMs }) => {
    people.annotateNode(node);
    return forMs > between([SECOND, 5 * MINUTE], random) ? () => people.annotateNode(node) : undefined;
  }),
};
