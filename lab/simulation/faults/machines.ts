import { FAULTS, type FaultName } from '../../sim/hosts/faults.ts';
import type { Moment } from '../moment-names.ts';
import { aimedAt, between, type DrawnKind, HOUR, MINUTE, onNode, oneOf, SECOND } from './kind.ts';

/** Moments of a node in its update. */
export const IN_UPDATE: readonly Moment[] = [
  'permit-taken',
  'spec-start',
  'prepare',
  'status-staged',
  'spec-advance',
  'spec-call-off',
  'spec-rescue',
  'drain-asked',
  'drain-announced',
  'cordon',
  'eviction',
  'drained',
  'activate',
  'reboot-recorded',
  'reboot-asked',
  'release-asked',
  'status-sent',
  'released',
  'status-rebooted',
  'status-idle',
  'status-error-reset',
  'node-touched',
];

/** What goes wrong with a host itself, as its API shows it; each has the name that `npm start -- --help` explains. */
const hostFaults: readonly DrawnKind[] = Object.entries(FAULTS).map(([fault, { what }]) => ({
  name: `host-${fault}`,
  what,
  weight: 1.2,
  lasts: [30 * SECOND, 30 * MINUTE],
  aim: ['spec-start', 'prepare', 'status-staged', 'spec-advance', 'drained', 'activate', 'reboot-asked'],
  phases: ['before', 'after'],
  begin: (world, terms) =>
    onNode(world, terms, (node) => {
      world.environment.machines.inject(node, fault as FaultName);
      return () => world.environment.machines.clear(node, fault as FaultName);
    }),
}));

const ownFaults: readonly DrawnKind[] = [
  {
    name: 'unplanned-reboot',
    what: 'a machine reboots by itself',
    weight: 6,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.rebootUnplanned(node)),
  },
  {
    name: 'machine-dies',
    what: 'a machine is off, for minutes or until the storm is over',
    weight: 3,
    lasts: [2 * MINUTE, 6 * HOUR],
    begin: (world, terms) =>
      onNode(world, terms, (node) => {
        world.environment.machines.die(node);
        return () => world.environment.machines.revive(node);
      }),
  },
  {
    name: 'node-replaced',
    what: 'a Node is deleted, and another machine registers under its name',
    weight: 2,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.remove(node, true)),
  },
  {
    name: 'node-removed',
    what: 'a Node is deleted with its machine, for good',
    weight: 0.8,
    lasts: [SECOND, SECOND],
    begin: (world, terms) =>
      // Who has removed most of the fleet has no storm any more.
      world.environment.nodes.length <= Math.ceil(world.scenario.nodes / 2)
        ? undefined
        : onNode(world, terms, (node) => world.environment.machines.remove(node, false)),
  },
  {
    name: 'host-locked-by-hand',
    what: "a host's owner locks it to a version, and unlocks it later",
    weight: 2,
    lasts: [MINUTE, HOUR],
    begin: (world, terms) => {
      const { version } = oneOf(world.scenario.releases, terms.random) ?? {};
      if (version === undefined) return undefined;
      const about = (node: string): string => `${node}, to ${version}`;
      return onNode(world, terms, (node) => world.environment.machines.lock(node, version), about);
    },
  },
  {
    name: 'machine-clock',
    what: "a machine's wall clock is off by minutes",
    weight: 2,
    lasts: [MINUTE, 2 * HOUR],
    begin: (world, terms) => {
      const offMs = between([SECOND, 20 * MINUTE], terms.random) * (terms.random() < 0.5 ? -1 : 1);
      return onNode(
        world,
        terms,
        (node) => {
          world.environment.machines.setClock(node, offMs);
          return () => world.environment.machines.setClock(node, 0);
        },
        (node) => `${node}, off by ${Math.round(offMs / SECOND)} s`,
      );
    },
  },
];

export const machineFaults: readonly DrawnKind[] = [...hostFaults, ...aimedAt(IN_UPDATE, ownFaults)];
