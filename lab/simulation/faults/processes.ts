import type { Begun, Process } from '../types.ts';
import { between, type DrawnKind, MINUTE, onProcess, othersOf, processOf, SECOND, type Terms } from './kind.ts';

/** The kubelet starts it anew, after a pause that grows. */
const kills = (processes: readonly Process[]): Begun | undefined => {
  if (processes.length === 0) return undefined;
  for (const process of processes) process.kill();
  return { about: processes.map(({ name }) => name).join(', ') };
};

const AT_ONCE = [SECOND, SECOND] as const;

/** Of the controllers and apiservers: those that are replicas. */
const replicated = (terms: Terms): Process['kind'] =>
  terms.struck && terms.struck.process.kind !== 'agent'
    ? terms.struck.process.kind
    : terms.random() < 0.5
      ? 'controller'
      : 'apiserver';

export const processFaults: readonly DrawnKind[] = [
  {
    name: 'kill',
    what: 'a process is killed and started anew; what it sent may still land',
    weight: 10,
    lasts: AT_ONCE,
    begin: (world, terms) => onProcess(processOf(world, terms), (process) => process.kill()),
  },
  {
    name: 'kill-controller',
    what: 'the controller that writes, or any, is killed',
    weight: 4,
    lasts: AT_ONCE,
    begin: (world, terms) => onProcess(processOf(world, terms, 'controller'), (process) => process.kill()),
  },
  {
    name: 'kill-apiserver',
    what: 'the apiserver that writes, or any, is killed',
    weight: 4,
    lasts: AT_ONCE,
    begin: (world, terms) => onProcess(processOf(world, terms, 'apiserver'), (process) => process.kill()),
  },
  {
    name: 'terminate',
    what: 'a process is told to end, and is started anew',
    weight: 4,
    lasts: AT_ONCE,
    begin: (world, terms) => onProcess(processOf(world, terms), (process) => process.terminate()),
  },
  {
    name: 'kill-replicas',
    what: 'all controllers, or all apiservers, are killed',
    weight: 2,
    lasts: AT_ONCE,
    begin: (world, terms) => {
      const replicas = replicated(terms);
      return kills(world.processes.filter(({ kind, running }) => kind === replicas && running));
    },
  },
  {
    name: 'kill-others',
    what: 'the other replicas of whoever writes are killed: nobody can take over',
    weight: 2,
    lasts: AT_ONCE,
    begin: (world, terms) => kills(othersOf(world, terms, replicated(terms))),
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
