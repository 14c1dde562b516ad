import type { Random } from '../../../runtime/lib/random.ts';
import { spread } from '../environment/chance.ts';
import { type Moment, MOMENTS } from '../moment-names.ts';
import type { Begun, FaultKind, Process, Terms, World } from '../types.ts';
import { MINUTE, SECOND } from '../units.ts';

/** Kinds of faults by their names. */
export type Kinds = Readonly<Record<string, Omit<FaultKind, 'name'>>>;
type Range = readonly [number, number];
type End = (() => void) | undefined | void;

/** Of what does not last. */
export const AT_ONCE = [SECOND, SECOND] as const;

export const fault = (what: string, weight: number, lasts: Range, begin: FaultKind['begin']) =>
  ({ what, weight, lasts, begin }) as const;

/** A fault of a node: the struck one, or any. */
export const ofNode = (
  what: string,
  weight: number,
  lasts: Range,
  begin: (environment: World['environment'], node: string, terms: Terms) => End,
) =>
  fault(what, weight, lasts, (world, terms) => onNode(world, terms, (node) => begin(world.environment, node, terms)));

/** The same, of what the environment names: it begins, and returns what ends it. */
export const onMachine = (what: string, weight: number, lasts: Range, act: Acts<World['environment']['machines']>) =>
  ofNode(what, weight, lasts, ({ machines }, node) => machines[act](node));

export const byPeople = (what: string, weight: number, lasts: Range, act: Acts<World['environment']['people']>) =>
  ofNode(what, weight, lasts, ({ people }, node, { random }) => people[act](node, random));

/** Names of what can be done to a node. */
type Acts<Of> = { [Name in keyof Of]: Of[Name] extends (node: string, random: Random) => End ? Name : never }[keyof Of];

/** A fault of a process: the struck one, or any; of the kind where one is named. */
export const ofProcess = (
  what: string,
  weight: number,
  lasts: Range,
  begin: (process: Process, world: World) => End,
  kind?: Process['kind'],
) =>
  fault(what, weight, lasts, (world, terms) =>
    onProcess(processOf(world, terms, kind), (process) => begin(process, world)),
  );

/** Moments by their names, with spaces between. @throws where there is no such moment */
export const moments = (names: string): readonly Moment[] =>
  names.split(' ').map((name) => {
    if (!(name in MOMENTS)) throw new Error(`there is no moment ${name}`);
    return name as Moment;
  });

/** The same kinds, aimed there. */
export const aimedAt = (aim: readonly Moment[], kinds: Kinds): Kinds =>
  Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, { ...kind, aim }]));

/** Undefined where there is none to choose. */
export function oneOf<T>(choices: readonly T[], random: Random): T | undefined {
  return choices[Math.floor(random() * choices.length)];
}

/** Whole milliseconds, evenly by orders of magnitude. */
export const between = (range: Range, random: Random): number => Math.round(spread(range, random));

/** How far a clock is off: at most 20 minutes, in either direction. */
export const drawOff = (random: Random): number => between([SECOND, 20 * MINUTE], random) * (random() < 0.5 ? -1 : 1);

/** As `Sight` of the judges reads it. */
export const saidOff = (whose: string, offMs: number): string => `${whose}, off by ${Math.round(offMs / SECOND)} s`;

/** The struck node, or any. One in ten strikes its neighbour instead. */
function nodeOf({ environment }: World, { random, struck }: Terms): string | undefined {
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

export function onNode(
  world: World,
  terms: Terms,
  begin: (node: string) => End,
  about: (node: string) => string = (node) => node,
): Begun | undefined {
  const node = nodeOf(world, terms);
  return node === undefined ? undefined : begun(about(node), begin(node));
}

export function onProcess(
  process: Process | undefined,
  begin: (process: Process) => End,
  about: (name: string) => string = (name) => name,
): Begun | undefined {
  return process && begun(about(process.name), begin(process));
}

export const begun = (about: string, end: End): Begun => (end ? { about, end } : { about });

/** Each of them ends. */
export const all =
  (ends: readonly (() => void)[]): (() => void) =>
  () => {
    for (const end of ends) end();
  };
