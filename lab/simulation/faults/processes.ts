import type { Begun, Process, Terms } from '../types.ts';
import { MINUTE, SECOND } from '../units.ts';
import { AT_ONCE, drawOff, fault, type Kinds, ofProcess, onProcess, othersOf, processOf, saidOff } from './kind.ts';

/** The kubelet starts it anew, after a pause that grows. */
const kills = (processes: readonly Process[]): Begun | undefined => {
  if (processes.length === 0) return undefined;
  for (const process of processes) process.kill();
  return { about: processes.map(({ name }) => name).join(', ') };
};

/** Of the controllers and apiservers: those that are replicas. */
const replicated = ({ struck, random }: Terms): Process['kind'] =>
  struck && struck.process.kind !== 'agent' ? struck.process.kind : random() < 0.5 ? 'controller' : 'apiserver';

const kill = (process: Process): void => process.kill();
const freeze = (process: Process) => process.freeze();

export const processFaults: Kinds = {
  kill: ofProcess('a process is killed and started anew; what it sent may still land', 10, AT_ONCE, kill),
  'kill-controller': ofProcess('the controller that writes, or any, is killed', 4, AT_ONCE, kill, 'controller'),
  'kill-apiserver': ofProcess('the apiserver that writes, or any, is killed', 4, AT_ONCE, kill, 'apiserver'),
  terminate: ofProcess('a process is told to end, and is started anew', 4, AT_ONCE, (process) => process.terminate()),
  'kill-replicas': fault('all controllers, or all apiservers, are killed', 2, AT_ONCE, (world, terms) => {
    const replicas = replicated(terms);
    return kills(world.processes.filter(({ kind, running }) => kind === replicas && running));
  }),
  'kill-others': fault(
    'the other replicas of whoever writes are killed: nobody can take over',
    2,
    AT_ONCE,
    (world, terms) => kills(othersOf(world, terms, replicated(terms))),
  ),
  freeze: ofProcess(
    'a process stands still, and goes on where it was, its clocks having gone on',
    9,
    [SECOND, 30 * MINUTE],
    freeze,
  ),
  'freeze-controller': ofProcess(
    'the controller that writes, or any, stands still for longer than its term as leader',
    5,
    [10 * SECOND, 5 * MINUTE],
    freeze,
    'controller',
  ),
  'clock-jumps': fault(
    "a process' wall clock jumps by minutes, in either direction",
    3,
    [MINUTE, 60 * MINUTE],
    (world, terms) => {
      const process = processOf(world, terms);
      const offMs = drawOff(terms.random);
      const begin = (one: Process) => {
        one.setClock(offMs);
        return terms.random() < 0.5 ? () => one.setClock(0) : undefined;
      };
      return onProcess(process, begin, (name) => saidOff(name, offMs));
    },
  ),
};
