import type { Moment } from '../moment-names.ts';
import type { World } from '../types.ts';
import { between, type DrawnKind, HOUR, MINUTE, onNode, SECOND, type Terms } from './kind.ts';

type People = World['environment']['people'];

/** Everything that a person may come in between with: all that the operator does to a node, and what it decides. */
const ANYWHERE: readonly Moment[] = [
  'permit-taken',
  'permit-given-back',
  'bump',
  'spec-start',
  'spec-advance',
  'spec-call-off',
  'spec-rescue',
  'drain-asked',
  'drain-announced',
  'cordon',
  'eviction',
  'drained',
  'node-touched',
  'release-asked',
  'status-sent',
  'released',
  'prepare',
  'activate',
  'status-staged',
  'reboot-recorded',
  'reboot-asked',
  'status-rebooted',
  'status-idle',
  'status-error-reset',
  'shadow-created',
  'shadow-deleted',
  'condition',
];

/** Something that a person does to a node, and perhaps takes back. */
function does(
  name: string,
  {
    what,
    weight,
    lasts = [SECOND, SECOND],
  }: { readonly what: string; readonly weight: number; readonly lasts?: readonly [number, number] },
  act: (people: People, node: string, terms: Terms) => (() => void) | void,
): DrawnKind {
  return {
    name,
    what,
    weight,
    lasts,
    aim: ANYWHERE,
    begin: (world, terms) => onNode(world, terms, (node) => act(world.environment.people, node, terms)),
  };
}

const IN_MINUTES = [5 * SECOND, 30 * MINUTE] as const;

export const peopleFaults: readonly DrawnKind[] = [
  does(
    'cordon',
    { what: 'an administrator cordons a node, and may forget it', weight: 6, lasts: IN_MINUTES },
    (people, node, { random }) => {
      people.cordon(node);
      return random() < 0.5 ? () => people.uncordon(node) : undefined;
    },
  ),
  does(
    'uncordon',
    { what: 'an administrator uncordons a node, and may cordon it again', weight: 6, lasts: IN_MINUTES },
    (people, node, { random }) => {
      people.uncordon(node);
      return random() < 0.4 ? () => people.cordon(node) : undefined;
    },
  ),
  does(
    'unmanage',
    { what: "a node's label is taken away, and put back later, or never", weight: 4, lasts: [5 * SECOND, HOUR] },
    (people, node, { random }) => {
      people.setManaged(node, false);
      return random() < 0.9 ? () => people.setManaged(node, true) : undefined;
    },
  ),
  does(
    'other-drainer',
    { what: 'another operator drains a node, and gives it back', weight: 3, lasts: [MINUTE, 30 * MINUTE] },
    (people, node) => {
      people.drain(node);
      return () => people.uncordon(node);
    },
  ),
  does(
    'broken',
    { what: 'somebody says of a node that it is broken', weight: 3, lasts: [10 * SECOND, HOUR] },
    (people, node) => {
      people.sayBroken(node, true);
      return () => people.sayBroken(node, false);
    },
  ),
  does('hold', { what: 'a node is held back', weight: 3, lasts: [10 * SECOND, HOUR] }, (people, node) =>
    people.hold(node),
  ),
  does('pause', { what: 'everything is paused', weight: 2, lasts: [10 * SECOND, 30 * MINUTE] }, (people) =>
    people.pause(),
  ),
  does('delete-shadow', { what: 'a shadow is deleted', weight: 5 }, (people, node) => people.deleteShadow(node)),
  does('edit-as-v1', { what: 'a shadow is written as a client of v1 writes it', weight: 3 }, (people, node) =>
    people.editAsV1(node),
  ),
  does('spec-idle', { what: 'an update is ended by hand: its spec is Idle', weight: 1 }, (people, node) =>
    people.endUpdate(node),
  ),
  does('edit-shadow', { what: 'a shadow is edited by hand', weight: 2 }, (people, node, { random }) =>
    people.editShadow(node, random),
  ),
  does(
    'annotate-node',
    { what: 'others write to a Node', weight: 4, lasts: [SECOND, 5 * MINUTE] },
    (people, node, { random, forMs }) => {
      people.annotateNode(node);
      return forMs > between([SECOND, 5 * MINUTE], random) ? () => people.annotateNode(node) : undefined;
    },
  ),
];
