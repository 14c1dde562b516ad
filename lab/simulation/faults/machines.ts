import { FAULTS, type FaultName } from '../../sim/hosts/faults.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { AT_ONCE, drawOff, fault, type Kinds, moments, ofNode, onMachine, onNode, oneOf, saidOff } from './kind.ts';

const OF_THE_HOST = {
  aim: moments('spec-start prepare status-staged spec-advance drained activate reboot-asked'),
  phases: ['before', 'after'],
} as const;

/** What goes wrong with a host itself, as its API shows it; each has the name that `npm start -- --help` explains. */
const hostFaults: Kinds = Object.fromEntries(
  Object.entries(FAULTS).map(([name, { what }]) => {
    const kind = ofNode(what, 1.2, [30 * SECOND, 30 * MINUTE], ({ machines }, node) => {
      machines.inject(node, name as FaultName);
      return () => machines.clear(node, name as FaultName);
    });
    return [`host-${name}`, { ...kind, ...OF_THE_HOST }];
  }),
);

export const machineFaults: Kinds = {
  ...hostFaults,
  'unplanned-reboot': onMachine('a machine reboots by itself', 6, AT_ONCE, 'rebootUnplanned'),
  'machine-dies': onMachine(
    'a machine is off, for minutes or until the storm is over',
    3,
    [2 * MINUTE, 6 * HOUR],
    'die',
  ),
  'node-replaced': onMachine('a Node is deleted, and another machine registers under its name', 2, AT_ONCE, 'replace'),
  'node-removed': fault('a Node is deleted with its machine, for good', 0.8, AT_ONCE, (world, terms) =>
    // Who has removed most of the fleet has no storm any more.
    world.environment.nodes.length <= Math.ceil(world.scenario.nodes / 2)
      ? undefined
      : onNode(world, terms, (node) => world.environment.machines.remove(node)),
  ),
  'host-locked-by-hand': fault(
    "a host's owner locks it to a version, and unlocks it later",
    2,
    [MINUTE, HOUR],
    (world, terms) => {
      const { version } = oneOf(world.scenario.releases, terms.random) ?? {};
      if (version === undefined) return undefined;
      const about = (node: string): string => `${node}, to ${version}`;
      return onNode(world, terms, (node) => world.environment.machines.lock(node, version), about);
    },
  ),
  'machine-clock': fault("a machine's wall clock is off by minutes", 2, [MINUTE, 2 * HOUR], (world, terms) => {
    const offMs = drawOff(terms.random);
    const { machines } = world.environment;
    const begin = (node: string) => {
      machines.setClock(node, offMs);
      return () => machines.setClock(node, 0);
    };
    return onNode(world, terms, begin, (node) => saidOff(node, offMs));
  }),
  'kubelet-mute': onMachine('a kubelet stops reporting, and its pods go on', 4, [20 * SECOND, HOUR], 'muteKubelet'),
  'agent-crashes': onMachine("an agent's container ends, and is started again", 5, AT_ONCE, 'crashAgent'),
  'agent-lost': onMachine(
    'an agent is gone, for minutes or until the storm is over',
    6,
    [MINUTE, 3 * HOUR],
    'loseAgent',
  ),
  'upstream-agent': onMachine(
    "the older operator's agent runs in place of ours",
    2,
    [5 * MINUTE, HOUR],
    'runUpstreamAgent',
  ),
};
