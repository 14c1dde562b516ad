import type { Process, World } from '../types.ts';
import {
  all,
  begun,
  between,
  type DrawnKind,
  MINUTE,
  oneOf,
  onProcess,
  othersOf,
  processOf,
  SECOND,
  type Terms,
} from './kind.ts';

/** Down for as long as the fault lasts. An agent is started again by its kubelet. */
function strikes(process: Process, how: 'kill' | 'terminate', world: World): (() => void) | undefined {
  if (process.kind === 'agent' && process.node !== undefined && how === 'kill') {
    world.environment.machines.crashAgent(process.node);
    return undefined;
  }
  process[how]();
  return () => process.start();
}

/** Of the controllers and apiservers: those that are replicas. */
const replicated = (world: World, terms: Terms): Process['kind'] =>
  terms.struck && terms.struck.process.kind !== 'agent'
    ? terms.struck.process.kind
    : (oneOf(['controller', 'apiserver'] as const, terms.random) ?? world.processes[0]!.kind);

const names = (processes: readonly Process[]): string => processes.map(({ name }) => name).join(', ');

export const processFaults: readonly DrawnKind[] = [
  {
    name: 'kill',
    what: 'a process is killed and started again later; what it sent may still land',
    weight: 10,
    lasts: [SECOND, 10 * MINUTE],
    begin: (world, terms) => onProcess(processOf(world, terms), (process) => strikes(process, 'kill', world)),
  },
  {
    name: 'kill-controller',
    what: 'the controller that writes, or any, is killed',
    weight: 4,
    lasts: [SECOND, 5 * MINUTE],
    begin: (world, terms) =>
      onProcess(processOf(world, terms, 'controller'), (process) => strikes(process, 'kill', world)),
  },
  {
    name: 'kill-apiserver',
    what: 'the apiserver that writes, or any, is killed',
    weight: 4,
    lasts: [SECOND, 5 * MINUTE],
    begin: (world, terms) =>
      onProcess(processOf(world, terms, 'apiserver'), (process) => strikes(process, 'kill', world)),
  },
  {
    name: 'terminate',
    what: 'a process is told to end, and is started again later',
    weight: 4,
    lasts: [SECOND, 5 * MINUTE],
    begin: (world, terms) => {
      const process = processOf(world, terms);
      // A kubelet that ends a container deletes its pod: that is `agent-lost`.
      return onProcess(process?.kind === 'agent' ? undefined : process, (one) => strikes(one, 'terminate', world));
    },
  },
  {
    name: 'kill-replicas',
    what: 'all controllers, or all apiservers, are killed',
    weight: 2,
    lasts: [SECOND, 10 * MINUTE],
    begin: (world, terms) => {
      const kind = replicated(world, terms);
      const processes = world.processes.filter((process) => process.kind === kind && process.running);
      if (processes.length === 0) return undefined;
      for (const process of processes) process.kill();
      return begun(names(processes), all(processes.map((process) => () => process.start())));
    },
  },
  {
    name: 'kill-others',
    what: 'the other replicas of whoever writes are killed: nobody can take over',
    weight: 2,
    lasts: [SECOND, 10 * MINUTE],
    begin: (world, terms) => {
      const processes = othersOf(world, terms, replicated(world, terms));
      if (processes.length === 0) return undefined;
      for (const process of processes) process.kill();
      return begun(names(processes), all(processes.map((process) => () => process.start())));
    },
  },
  {
    name: 'freeze',
    what: 'a process stands still, and goes on where it was, its clocks having gone on',
    weight: 9,
    lasts: [SECOND, 30 * MINUTE],
    begin: (world, terms) => onProcess(processOf(world, terms), (process) => process.freeze()),
  },
  {
    name: 'freeze-controller',
    what: 'the controller that writes, or any, stands still for longer than its term as leader',
    weight: 5,
    lasts: [10 * SECOND, 5 * MINUTE],
    begin: (world, terms) => onProcess(processOf(world, terms, 'controller'), (process) => process.freeze()),
  },
  {
    name: 'clock-jumps',
    what: "a process' wall clock jumps by minutes, in either direction",
    weight: 3,
    lasts: [MINUTE, 60 * MINUTE],
    begin: (world, terms) => {
      const process = processOf(world, terms);
      const offMs = between([SECOND, 20 * MINUTE], terms.random) * (terms.random() < 0.5 ? -1 : 1);
      return onProcess(
        process,
        (one) => {
          one.setClock(offMs);
          return terms.random() < 0.5 ? () => one.setClock(0) : undefined;
        },
        (name) => `${name}, off by ${Math.round(offMs / SECOND)} s`,
      );
    },
  },
];
