import type { Random } from '../../runtime/lib/random.ts';
import { chance, oneOf, spread, weighed } from './environment/chance.ts';
import { CATALOGUE, kindOf } from './faults/catalogue.ts';
import { between } from './faults/kind.ts';
import { HOUR, MINUTE } from './units.ts';
import { type Moment, MOMENTS } from './moment-names.ts';
import { DECISIONS, type Plot, PLOTS, type Topic, TOPICS } from './plots.ts';
import { drawPolicies } from './policies.ts';
import { drawSettings } from './settings.ts';
import { blinds } from './invariants/sight.ts';
import type { FaultKind, Instant, Phase, PlannedFault, PolicyWorld, Release, Scenario, When } from './types.ts';

/** What is given rather than drawn. */
export interface Given {
  readonly nodes?: number;
  /** Of the storm. @default 6 */
  readonly hours?: number;
}

type Unnumbered = Omit<PlannedFault, 'id'>;
type Fits = (fault: Pick<PlannedFault, 'kind'>) => boolean;

/** Which faults a storm may have. */
interface Sky {
  readonly stormMs: number;
  readonly fits: Fits;
  readonly topic: Topic | undefined;
}

const ALL_MOMENTS = Object.keys(MOMENTS) as readonly Moment[];
const ALL_PHASES: readonly Phase[] = ['before', 'between', 'after'];
/** The fleet comes to rest first, so that faults meet an operator at work. */
const BEGINS = 2 * MINUTE;

/** In so many storms every process sees the cluster as it is: what it must know it knows within a minute, and may not ignore. */
const CLEAR = 0.3;

/** So many storms are about one topic: most of what comes together is of that, and releases follow each other soon, so that there is much to disturb. */
const THEMED = 0.7;

/** The scenario of a seed: always the same. */
export function draw(seed: number, given: Given = {}): Scenario {
  const nodes = given.nodes ?? fleet(chance(seed, 'fleet'));
  const stormMs = Math.round((given.hours ?? 6) * HOUR);
  const isClear = chance(seed, 'sight')() < CLEAR;
  const fits: Fits = isClear ? ({ kind }) => !blinds(kind) : () => true;
  const topic = drawTopic(chance(seed, 'topic'), fits);
  const policies = drawPolicies(chance(seed, 'policies'), stormMs, topic);
  const storm = drawStorm(chance(seed, 'storm'), { stormMs, fits, topic });
  const decisions = hasAny(policies) ? drawDecisions(chance(seed, 'decisions'), { stormMs, fits, topic }) : [];
  return {
    seed,
    nodes,
    stormMs,
    ...(topic && { topic }),
    settings: drawSettings(chance(seed, 'settings'), topic),
    policies,
    releases: drawReleases(chance(seed, 'releases'), { nodes, stormMs, topic }),
    faults: numbered([...storm, ...decisions]),
  };
}

const hasAny = ({ policies }: PolicyWorld): boolean => Object.keys(policies).length > 0;

/** Mostly small ones, in which everything concerns everybody and a storm costs little; one in twenty is large. */
function fleet(random: Random): number {
  if (random() < 0.05) return 200;
  const small = Math.min(random(), random());
  return Math.floor(spread([3, 51], () => small));
}

/** Only those of which something is left under this sky. */
function drawTopic(random: Random, fits: Fits): Topic | undefined {
  const topics = (Object.keys(TOPICS) as Topic[]).filter((name) => TOPICS[name].some((plot) => plot.every(fits)));
  return random() < THEMED ? oneOf(random, topics) : undefined;
}

const FLAWS = ['does-not-boot', 'never-ready', 'agent-never-runs', 'unwell-later', 'breaks-daemon'] as const;

/** Small fleets are through with a release soon, so they get more of them. One that is bad is followed by another, but for the last of some. */
function drawReleases(
  random: Random,
  { nodes, stormMs, topic }: Pick<Scenario, 'nodes' | 'stormMs'> & Pick<Sky, 'topic'>,
): readonly Release[] {
  const eachMs =
    spread(topic && nodes <= 20 ? [8 * MINUTE, 30 * MINUTE] : [15 * MINUTE, 90 * MINUTE], random) *
    (nodes > 20 ? 2 : 1);
  const count = Math.max(1, Math.round(stormMs / eachMs));
  const bad = oneOf(random, topic === 'failures' ? [0.4, 0.6] : [0, 0.2, 0.4]);
  const releases: Release[] = [{ version: '1.38.0', from: 0 }];
  for (let index = 0; index < count; index++) {
    const from = Math.round(index === 0 ? random() * BEGINS : (index + random() * 0.5) * (stormMs / count));
    const isLast = index === count - 1;
    const isBad = random() < bad && (!isLast || random() < 0.3);
    const how = oneOf(random, FLAWS);
    releases.push({ version: `1.${39 + index}.0`, from, ...(isBad && { bad: how }) });
  }
  return releases;
}

/**
 * Each seed has a mix of its own: about half of the kinds never occur in it, so that the others get room, and it is anything from mild to wild.
 * Most faults are aimed, and many come together.
 */
function drawStorm(random: Random, { stormMs, fits, topic }: Sky): readonly Unnumbered[] {
  const kinds = CATALOGUE.filter(() => random() < 0.5).filter(({ name }) => fits({ kind: name }));
  const plots = (topic ? TOPICS[topic] : PLOTS.filter(() => random() < 0.15)).filter((plot) => plot.every(fits));
  const count = Math.round(spread(topic ? [9, 34] : [6, 60], random) * (stormMs / HOUR)) + 1;
  const shares = topic ? { plots: 0.8, bursts: 0.9 } : { plots: 0.4, bursts: 0.7 };
  return Array.from({ length: count }, () => drawGroup(random, { kinds, plots, shares, stormMs })).flat();
}

/** Where there are policies, people change what holds while nodes are on their way. */
function drawDecisions(random: Random, { stormMs, fits }: Sky): readonly Unnumbered[] {
  const plots = DECISIONS.filter((plot) => plot.every(fits));
  const count = Math.round(spread([1, 5], random) * (stormMs / HOUR));
  return Array.from({ length: count }, () => drawPlot(random, plots, groupFrom(random, stormMs))).flat();
}

function numbered(faults: readonly Unnumbered[]): readonly PlannedFault[] {
  const sorted = faults.toSorted((a, b) => begins(a) - begins(b));
  return sorted.map(({ kind, when, forMs, dice }, index) => ({ id: index + 1, kind, when, forMs, dice }));
}

const begins = ({ when }: Unnumbered): Instant => (when.kind === 'at' ? when.at : when.from);

interface Mix {
  readonly kinds: readonly FaultKind[];
  readonly plots: readonly Plot[];
  /** Up to which draw it is a plot, and then a burst; what is above is a single fault. */
  readonly shares: { readonly plots: number; readonly bursts: number };
  readonly stormMs: number;
}

const groupFrom = (random: Random, stormMs: number): Instant =>
  Math.round(BEGINS + random() * 0.95 * Math.max(0, stormMs - BEGINS));

function drawGroup(random: Random, mix: Mix): readonly Unnumbered[] {
  const from = groupFrom(random, mix.stormMs);
  const dice = random();
  if (dice < mix.shares.plots) return drawPlot(random, mix.plots, from);
  if (dice < mix.shares.bursts) return drawBurst(random, mix.kinds, from);
  const kind = weighed(mix.kinds, random);
  return kind ? [planned(kind, random() < 2 / 3 ? aimed(kind, random, from) : { kind: 'at', at: from }, random)] : [];
}

function drawPlot(random: Random, plots: readonly Plot[], from: Instant): readonly Unnumbered[] {
  const plot = plots[Math.floor(random() * plots.length)] ?? [];
  return plot.map(({ kind, moment, phase, after, lasts = kindOf(kind).lasts }) =>
    planned(
      { name: kind, lasts },
      { kind: 'moment', moment, phase, from, delayMs: after ? between(after, random) : 0 },
      random,
    ),
  );
}

/** Two to four faults around one moment of one node. */
function drawBurst(random: Random, kinds: readonly FaultKind[], from: Instant): readonly Unnumbered[] {
  const moment = oneOf(random, ALL_MOMENTS);
  const fitting = kinds.filter(({ aim }) => !aim || aim.includes(moment));
  const count = 2 + Math.floor(random() * 3);
  return Array.from({ length: count }, () => weighed(fitting, random))
    .filter((kind) => kind !== undefined)
    .map((kind) => planned(kind, aimed(kind, random, from, moment), random));
}

function aimed(kind: FaultKind, random: Random, from: Instant, moment?: Moment): When {
  const { aim = ALL_MOMENTS, phases = ALL_PHASES } = kind;
  const phase = oneOf(random, phases);
  // What may only begin before a request decides what becomes of it; later there is nothing to decide.
  const isLater = phases.includes('after') && random() < 0.35;
  return {
    kind: 'moment',
    moment: moment ?? oneOf(random, aim),
    phase,
    from,
    delayMs: isLater ? between([50, 2 * MINUTE], random) : 0,
  };
}

function planned({ name, lasts }: Pick<FaultKind, 'name' | 'lasts'>, when: When, random: Random): Unnumbered {
  return { kind: name, when, forMs: between(lasts, random), dice: Math.floor(random() * 0x7fffffff) };
}
