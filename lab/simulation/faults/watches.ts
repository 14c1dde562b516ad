import {
  all,
  begun,
  between,
  type DrawnKind,
  HOUR,
  MINUTE,
  oneOf,
  onProcess,
  processOf,
  SECOND,
  type Terms,
} from './kind.ts';
import type { Process, World } from '../types.ts';

/** The struck process, those that may follow it, or everybody of its kind: who acts on an old view is drawn. */
function viewers(world: World, terms: Terms): readonly Process[] {
  const one = processOf(world, terms);
  if (!one) return [];
  const alike = world.processes.filter(({ kind, running }) => running && kind === one.kind);
  const others = alike.filter((process) => process !== one);
  const choices = one.kind === 'agent' || others.length === 0 ? [[one]] : [[one], others, alike];
  return oneOf(choices, terms.random) ?? [];
}

/** Paths of lists and watches, and none of one object. */
const COLLECTION = /\/[a-z]+s$/;

const names = (processes: readonly Process[]): string => processes.map(({ name }) => name).join(', ');

function drops(how: 'closed' | 'expired' | 'replayed', what: string): DrawnKind {
  return {
    name: `watch-${how}`,
    what,
    weight: 3,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => {
      const processes = viewers(world, terms);
      if (processes.length === 0) return undefined;
      for (const { name } of processes) world.network.dropWatches(name, how);
      return { about: names(processes) };
    },
  };
}

/** One cache of the controllers is older than the others. */
function lagsBehind(resource: string, what: string, name = `watch-lags-${resource}`): DrawnKind {
  return {
    name,
    what: `${what}: the controllers' watches of these are late, and no others`,
    weight: 2,
    lasts: [MINUTE, 3 * HOUR],
    begin: ({ processes, network }, { random }) => {
      const ms = between([10 * SECOND, 3 * HOUR], random);
      const controllers = processes.filter(({ kind }) => kind === 'controller');
      return begun(
        `${names(controllers)}, by ${(ms / SECOND).toFixed(1)} s`,
        all(controllers.map((one) => network.lagWatches(one.name, ms, resource))),
      );
    },
  };
}

export const watchFaults: readonly DrawnKind[] = [
  {
    name: 'watch-lags',
    what: 'watches of a process, of those that may follow it, or of all of its kind are late',
    weight: 8,
    lasts: [10 * SECOND, 15 * MINUTE],
    begin: (world, terms) => {
      const processes = viewers(world, terms);
      const ms = between([500, 2 * MINUTE], terms.random);
      if (processes.length === 0) return undefined;
      return begun(
        `${names(processes)}, by ${(ms / SECOND).toFixed(1)} s`,
        all(processes.map(({ name }) => world.network.lagWatches(name, ms))),
      );
    },
  },
  {
    name: 'watch-mute',
    what: 'watches of a process, of those that may follow it, or of all of its kind tell nothing',
    weight: 4,
    lasts: [10 * SECOND, 10 * MINUTE],
    begin: (world, terms) => {
      const processes = viewers(world, terms);
      if (processes.length === 0) return undefined;
      return begun(names(processes), all(processes.map(({ name }) => world.network.muteWatches(name))));
    },
  },
  lagsBehind('nodes', 'Nodes are known later than all else'),
  lagsBehind('pods', 'agents are known later than all else'),
  lagsBehind('bottlerocketshadows', 'shadows are known later than all else', 'watch-lags-shadows'),
  drops('closed', 'watches end'),
  drops('expired', 'watches are told 410: what they saw last is too old'),
  drops('replayed', 'watches end, and are served events again that they have had'),
  {
    name: 'watch-and-list-expired',
    what: 'watches of a process are told 410, and so are the lists by which it begins anew',
    weight: 2,
    lasts: [SECOND, 2 * MINUTE],
    begin: (world, terms) =>
      onProcess(processOf(world, terms), ({ name }) => {
        world.network.dropWatches(name, 'expired');
        return world.network.disturb(name, { kind: 'answered', code: 410 }, { method: 'GET', path: COLLECTION });
      }),
  },
];
