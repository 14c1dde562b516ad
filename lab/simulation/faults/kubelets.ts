import { IN_UPDATE } from './machines.ts';
import { aimedAt, HOUR, MINUTE, onNode, SECOND } from './kind.ts';

/** What a kubelet does to the Node and to the agent's container. */
export const kubeletFaults = aimedAt(IN_UPDATE, [
  {
    name: 'kubelet-mute',
    what: 'a kubelet stops reporting, and its pods go on',
    weight: 4,
    lasts: [20 * SECOND, HOUR],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.muteKubelet(node)),
  },
  {
    name: 'agent-crashes',
    what: "an agent's container ends, and is started again",
    weight: 5,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.crashAgent(node)),
  },
  {
    name: 'agent-lost',
    what: 'an agent is gone, for minutes or until the storm is over',
    weight: 6,
    lasts: [MINUTE, 3 * HOUR],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.loseAgent(node)),
  },
  {
    name: 'upstream-agent',
    what: "the older operator's agent runs in place of ours",
    weight: 2,
    lasts: [5 * MINUTE, HOUR],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.machines.runUpstreamAgent(node)),
  },
]);
