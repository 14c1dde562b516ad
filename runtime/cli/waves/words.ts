import type { Reach, Turn } from './turns.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** e.g. `Sat 29 Aug, 17:00 UTC`. To the minute, and never before it. @param at milliseconds since the Unix epoch */
export function momentText(at: number): string {
  const date = new Date(Math.ceil(at / 60_000) * 60_000);
  const day = `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return `${day}, ${date.toISOString().slice(11, 16)} UTC`;
}

const ORDINALS = ['no', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth'];
const NUMBERS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

const waveText = (number: number, of: number): string =>
  `${ORDINALS[number] ?? `number ${number}`} wave of ${NUMBERS[of] ?? of}`;

/** Of a node that neither runs the version nor is offered it: a sentence without its end. @param lastLook why it may not know of it */
export function turnText(version: string, turn: Turn, { now, lastLook }: { now: number; lastLook: string }): string {
  const unoffered = `but the host has not offered it: ${lastLook}`;
  if (turn.kind === 'now') return `${version} is out, and this host waits for no wave, ${unoffered}`;
  if (turn.kind !== 'wave') return `${version} is out${REASONS[turn.kind](turn as never)}`;
  const { at, wave, seed } = turn;
  if (at <= now) return `${version} is out, and its wave has come, ${unoffered}`;
  const which = `${waveText(wave.number, wave.of)}, seed ${seed}`;
  return `${version} is out; it reaches this node on ${momentText(at)} (${which})`;
}

type Unreached = Exclude<Turn['kind'], 'wave' | 'now'>;

/** Why no wave brings it. */
const REASONS: { readonly [K in Unreached]: (turn: Extract<Turn, { readonly kind: K }>) => string } = {
  above: ({ maxVersion }) => `, but its repository gives hosts nothing above ${maxVersion}`,
  locked: ({ to }) => `, but this host is locked to ${to} (settings.updates.version-lock)`,
  elsewhere: ({ url }) => `, but this host uses ${url}; name it in repositories to see its waves`,
  unknown: ({ why }) => `; when it reaches this node is not known: ${why}`,
};

const OTHERS = {
  above: 'above what its repository gives hosts',
  locked: 'locked to another version',
  elsewhere: 'on other repositories',
  unknown: 'whose hosts do not tell',
};

/** How far a release has come: a sentence without its end. */
export function reachText({ nodes, now, halfBy, allBy, others }: Reach): string {
  const rest = Object.entries(OTHERS).flatMap(([kind, words]) => {
    const count = others[kind as keyof typeof others];
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const times = [
    ...(halfBy === undefined || halfBy === allBy ? [] : [`half by ${momentText(halfBy)}`]),
    ...(allBy === undefined ? [] : [`all by ${momentText(allBy)}`]),
  ];
  const reached = [`${now} of ${nodes} nodes may have it now`, ...times].join(', ');
  return [reached, ...rest].join('; ');
}
