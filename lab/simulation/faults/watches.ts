import type { Process, Terms, World } from '../types.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { all, AT_ONCE, begun, between, fault, type Kinds, oneOf, ofProcess, processOf } from './kind.ts';

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
const late = (processes: readonly Process[], ms: number): string =>
  `${names(processes)}, by ${(ms / SECOND).toFixed(1)} s`;

const drops = (how: 'closed' | 'expired' | 'replayed', what: string) =>
  fault(what, 3, AT_ONCE, (world, terms) => {
    const processes = viewers(world, terms);
    if (processes.length === 0) return undefined;
    for (const { name } of processes) world.network.watches.drop(name, how);
    return { about: names(processes) };
  });

/** One cache of the controllers is older than the others. */
const lagsBehind = (resource: string, what: string) =>
  fault(
    `${what} are known later than all else: the controllers' watches of these are late, and no others`,
    2,
    [MINUTE, 3 * HOUR],
    ({ processes, network }, { random }) => {
      const ms = between([10 * SECOND, 3 * HOUR], random);
      const controllers = processes.filter(({ kind }) => kind === 'controller');
      const ends = controllers.map(({ name }) => network.watches.lag(name, ms, resource));
      return begun(late(controllers, ms), all(ends));
    },
  );

export const watchFaults: Kinds = {
  'watch-lags': fault(
    'watches of a process, of those that may follow it, or of all of its kind are late',
    8,
    [10 * SECOND, 15 * MINUTE],
    (world, terms) => {
      const processes = viewers(world, terms);
      const ms = between([500, 2 * MINUTE], terms.random);
      if (processes.length === 0) return undefined;
      return begun(late(processes, ms), all(processes.map(({ name }) => world.network.watches.lag(name, ms))));
    },
  ),
  'watch-mute': fault(
    'watches of a process, of those that may follow it, or of all of its kind tell nothing',
    4,
    [10 * SECOND, 10 * MINUTE],
    (world, terms) => {
      const processes = viewers(world, terms);
      if (processes.length === 0) return undefined;
      return begun(names(processes), all(processes.map(({ name }) => world.network.watches.mute(name))));
    },
  ),
  'watch-lags-nodes': lagsBehind('nodes', 'Nodes'),
  'watch-lags-pods': lagsBehind('pods', 'agents'),
  'watch-lags-shadows': lagsBehind('bottlerocketshadows', 'shadows'),
  'watch-closed': drops('closed', 'watches end'),
  'watch-expired': drops('expired', 'watches are told 410: what they saw last is too old'),
  'watch-replayed': drops('replayed', 'watches end, and are served events again that they have had'),
  'watch-and-list-expired': ofProcess(
    'watches of a process are told 410, and so are the lists by which it begins anew',
    2,
    [SECOND, 2 * MINUTE],
    ({ name }, { network }) => {
      network.watches.drop(name, 'expired');
      return network.carriage.disturb(name, { kind: 'answered', code: 410 }, { method: 'GET', path: COLLECTION });
    },
  ),
};
