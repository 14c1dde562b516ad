import type { Random } from '../../../runtime/lib/random.ts';
import { spread } from '../draws.ts';
import type { Moment } from '../moment-names.ts';
import type { Begun, FaultKind, Process, Struck, World } from '../types.ts';

/** A kind of fault with what drawing one needs besides. */
export interface DrawnKind extends FaultKind {
  /** How long it lasts, milliseconds: from, to. Drawn evenly by orders of magnitude. */
  readonly lasts: readonly [number, number];
}

/** What a fault is told when it begins. */
export interface Terms {
  readonly random: Random;
  readonly forMs: number;
  readonly struck?: Struck;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Undefined where there is none to choose. */
export function oneOf<T>(choices: readonly T[], random: Random): T | undefined {
  return choices[Math.floor(random() * choices.length)];
}

/** Whole milliseconds, evenly by orders of magnitude. */
export const between = (range: readonly [number, number], random: Random): number => Math.round(spread(range, random));

/** The struck node, or any. One in ten strikes its neighbour instead. */
export function nodeOf({ environment }: World, { random, struck }: Terms): string | undefined {
  const any = oneOf(environment.nodes, random);
  const stays = random() < 0.9;
  return stays && struck?.node !== undefined && environment.nodes.includes(struck.node) ? struck.node : any;
}

/** The struck process where it is of the kind, or any of the kind that runs. */
export function processOf(world: World, { random, struck }: Terms, kind?: Process['kind']): Process | undefined {
  const fits = (process: Process): boolean => process.running && (kind === undefined || process.kind === kind);
  const any = oneOf(world.processes.filter(fits), random);
  return struck && fits(struck.process) ? struck.process : any;
}

/** Those of the kind of the struck process that run, but for itself: who follows it. */
export function othersOf(world: World, { struck }: Terms, kind: Process['kind']): readonly Process[] {
  return world.processes.filter((process) => process.running && process.kind === kind && process !== struck?.process);
}

/** The same kinds, aimed there. */
export const aimedAt = (aim: readonly Moment[], kinds: readonly DrawnKind[]): readonly DrawnKind[] =>
  kinds.map((kind) => Object.assign({}, kind, { aim }));

/** A fault of a node. */
export function onNode(
  world: World,
  terms: Terms,
  begin: (node: string) => (() => void) | undefined | void,
  about: (node: string) => string = (node) => node,
): Begun | undefined {
  const node = nodeOf(world, terms);
  return node === undefined ? undefined : begun(about(node), begin(node));
}

/** A fault of a process. */
export function onProcess(
  process: Process | undefined,
  begin: (process: Process) => (() => void) | undefined | void,
  about: (name: string) => string = (name) => name,
): Begun | undefined {
  return process && begun(about(process.name), begin(process));
}

export function begun(about: string, end: (() => void) | undefined | void): Begun {
  return end ? { about, end } : { about };
}

/** Each of them ends. */
export const all =
  (ends: readonly (() => void)[]): (() => void) =>
  () => {
    for (const end of ends) end();
  };
