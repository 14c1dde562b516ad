import { traitsOf } from '../../controller/plan/facts/reasons.ts';
import { STEP_WORDS, STEPS } from '../../controller/plan/facts/steps.ts';
import { byWhom } from '../../api/shadow/asked.ts';
import { reachText } from '../waves/words.ts';
import { durationText, rfc3339 } from '../../lib/clock.ts';
import { AS_IS, type Here, told } from '../arguments.ts';
import { haltedRemedy, haltedText } from '../halted.ts';
import { NAME } from '../help.ts';
import { noLeaderRemedy, noLeaderText } from '../leader.ts';
import { firstOf, unknownLines, untilText } from '../output/output.ts';
import { hasRoom, type Terminal, paint, table, wrapped } from '../output/terminal.ts';
import type { Pace } from './pace.ts';
import type { Counts, FamilyStatus, FleetStatus, PolicyStatus, Reasoned, Updating } from './status.ts';

/** The status for people: what needs them comes first. */
export function statusLines(status: FleetStatus, terminal: Terminal, here: Here = AS_IS): readonly string[] {
  const { counts, paused, pausedBy, notKnown } = status;
  if (counts.nodes === 0) return [...notKnownLines(notKnown, terminal), NO_NODES];
  const sections = [
    [...(paused ? pausedLines(pausedBy, here(`${NAME} resume`), terminal) : []), ...notKnownLines(notKnown, terminal)],
    needsYouLines(status, terminal, here),
    progressLines(status, terminal),
    updatingLines(status, terminal),
    waitingLines(status, terminal),
    paceLines(status, terminal),
  ].filter((lines) => lines.length > 0);
  return sections.flatMap((lines, index) => (index === 0 ? lines : [''].concat(lines)));
}

const pausedLines = (by: FleetStatus['pausedBy'], resume: string, terminal: Terminal): readonly string[] =>
  wrapped(`The fleet is paused${byWhom(by)}: no update starts. ${resume} ends that.`, {
    columns: terminal.columns,
    indent: 2,
  }).map((line) => paint(terminal, 'late', line));

const NO_NODES = 'No node is managed: none bears the label bottlerocket.aws/updater-interface-version=2.0.0.';

const notKnownLines = (notKnown: readonly string[], terminal: Terminal): readonly string[] =>
  unknownLines(notKnown, terminal).flatMap((line) => wrapped(line, { columns: terminal.columns, indent: 2 }));

/** How many nodes of a group are named. */
const MAX_NAMED = 3;

function needsYouLines(
  { needsYou, halted, noLeader, now }: FleetStatus,
  terminal: Terminal,
  here: Here,
): readonly string[] {
  if (needsYou.length === 0 && halted.length === 0 && !noLeader) return [];
  const nobody = noLeader ? [`${noLeaderText(noLeader)}. ${noLeaderRemedy(here)}`] : [];
  const releases = halted.map((one) => `${haltedText(one)}. ${haltedRemedy(one, here)}`);
  const nodes = needsYou.map((one) =>
    `${reasonedText(one, now)}. ${told(traitsOf(one.reason).remedy ?? '', here)}`.trimEnd(),
  );
  const said = [...nobody, ...releases, ...nodes].flatMap((text) =>
    wrapped(`  ${text}`, { columns: terminal.columns, indent: 4 }),
  );
  return [paint(terminal, 'bad', 'NEEDS YOU'), ...said];
}

function reasonedText(
  { reason, policy, message, nodes, staged, avoided, arriving, since, until }: Reasoned,
  now: number,
): string {
  const details = [
    policy === undefined ? undefined : `policy ${policy}`,
    staged === 0 ? undefined : `${staged} staged ahead`,
    arriving === 0 ? undefined : `${arriving} arriving`,
    avoided === 0 ? undefined : `${avoided} avoided by new pods`,
    since === undefined ? undefined : `for ${durationText(now - since)}`,
    until === undefined ? undefined : untilText(reason, until - now),
  ].filter((detail) => detail !== undefined);
  return `${firstOf(nodes, MAX_NAMED)}  ${reason}: ${message}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}

/** A line for the fleet, each policy, each of its zones, and each family (variant and architecture). */
function progressLines(status: FleetStatus, terminal: Terminal): readonly string[] {
  const { counts, policies, families } = status;
  const [only] = policies;
  const hasPolicies = policies.length > 1 || only?.name !== undefined;
  const rows = [
    row('fleet', counts, terminal),
    ...policies.flatMap((policy) => policyRows(policy, { named: hasPolicies, terminal })),
    ...families.map((family) => row(family.name || 'unknown', family.counts, terminal).concat(versionsOf(family))),
  ];
  const notes = policies.flatMap(({ name, progressing, halted, late }) =>
    [progressing, halted, late].flatMap((text) => (text === undefined ? [] : [`policy ${name}: ${text}`])),
  );
  const waves = status.reaches.map(({ family, version, reach }) => `${version} (${family}): ${reachText(reach)}`);
  const all = [HEAD.map((cell) => paint(terminal, 'head', cell)), ...rows];
  const isWide = hasRoom(all, terminal);
  const versions = isWide ? [] : families.map((family) => `${family.name || 'unknown'}: ${versionsOf(family)}`);
  return [
    ...table(isWide ? all : all.map((cells) => cells.slice(0, HEAD.length - 1)), terminal),
    ...[...versions, ...notes, ...waves].flatMap((note) => wrapped(note, { columns: terminal.columns, indent: 2 })),
  ];
}

const HEAD = ['', 'DONE', 'PROGRESS', 'UPDATING', 'WAITING', 'FAILED', 'VERSIONS'];

interface Named {
  readonly named: boolean;
  readonly terminal: Terminal;
}

function policyRows({ name, counts, zones }: PolicyStatus, { named, terminal }: Named): string[][] {
  const own = row(name === undefined ? 'no policy' : `policy ${name}`, counts, terminal);
  const indent = named ? '  ' : '';
  return [...(named ? [own] : []), ...zones.map((zone) => row(`${indent}zone ${zone.name}`, zone.counts, terminal))];
}

/** A longer name is cut to half of the terminal's width. */
function row(name: string, counts: Counts, terminal: Terminal): string[] {
  const { nodes, upToDate, updating, waiting, failed } = counts;
  const short = name.length > terminal.columns / 2 ? `${name.slice(0, Math.floor(terminal.columns / 2) - 1)}…` : name;
  const failures = failed > 0 ? paint(terminal, 'bad', String(failed)) : '0';
  return [short, `${upToDate}/${nodes}`, bar(counts, terminal), String(updating), String(waiting), failures];
}

/** The bar of a line. A single failed or updating node of very many still gets a sign. */
function bar({ nodes, upToDate, updating, failed }: Counts, terminal: Terminal): string {
  const width = Math.max(6, Math.min(20, Math.floor(terminal.columns / 4)));
  const share = (count: number, rounded: (value: number) => number): number =>
    nodes === 0 ? 0 : Math.min(width, rounded((count * width) / nodes));
  const bad = share(failed, Math.ceil);
  const busy = Math.min(width - bad, share(updating, Math.ceil));
  const done = nodes > 0 && upToDate === nodes ? width : Math.min(width - bad - busy, share(upToDate, Math.floor));
  const parts = [
    paint(terminal, 'good', '#'.repeat(done)),
    paint(terminal, 'busy', '>'.repeat(busy)),
    paint(terminal, 'bad', '!'.repeat(bad)),
    '.'.repeat(width - done - busy - bad),
  ];
  return `[${parts.join('')}]`;
}

function versionsOf({ runs, offered }: FamilyStatus): string {
  const newer = offered.filter((version) => !runs.includes(version) || runs.length > 1);
  return newer.length > 0 ? `${runs.join(', ')} -> ${offered.join(', ')}` : runs.join(', ');
}

/** For each step: how many nodes are at it, and the names of the first. */
function updatingLines({ updating, pace, now }: FleetStatus, terminal: Terminal): readonly string[] {
  if (updating.length === 0) return [];
  const lines = STEPS.flatMap((step) => {
    const those = updating.filter((one) => one.step === step);
    if (those.length === 0) return [];
    const named = those.map((one) => `${one.node}${stepText(one, pace, now)}`);
    const text = `  ${STEP_WORDS[step].padEnd(9)}  ${those.length}  ${firstOf(named, MAX_NAMED)}`;
    return wrapped(text, { columns: terminal.columns, indent: 4 });
  });
  return [paint(terminal, 'head', 'UPDATING'), ...lines];
}

const waitsText = ({ waitsFor = [] }: Updating): readonly string[] => waitsFor.map((one) => `waits for ${one}`);

function stepText(one: Updating, { typicalRebootMs: usually }: Pace, now: number): string {
  const { podsLeft, blockedBy, drainEndsAt, silentSince, awaySince } = one;
  if (silentSince !== undefined) return ` (not reported since ${rfc3339(silentSince)})`;
  const said = [
    ...(awaySince === undefined ? [] : [`for ${durationText(now - awaySince)}`]),
    ...(awaySince === undefined || usually === undefined ? [] : [`usually ${durationText(usually)}`]),
    ...(podsLeft === undefined ? [] : [podsLeft === 1 ? '1 pod left' : `${podsLeft} pods left`]),
    ...(drainEndsAt === undefined ? [] : [`tries for ${durationText(drainEndsAt - now)} more`]),
    ...waitsText(one),
    ...(blockedBy.length > 0 ? [`blocked by ${firstOf(blockedBy, MAX_NAMED)}`] : []),
  ];
  return said.length > 0 ? ` (${said.join(', ')})` : '';
}

function waitingLines({ waiting, now }: FleetStatus, terminal: Terminal): readonly string[] {
  if (waiting.length === 0) return [];
  const lines = waiting.flatMap((one) => {
    const text = `  ${String(one.nodes.length).padStart(3)}  ${reasonedText(one, now)}`;
    return wrapped(text, { columns: terminal.columns, indent: 7 });
  });
  return [paint(terminal, 'head', 'WAITING'), ...lines];
}

function paceLines({ pace, noLeader, now }: FleetStatus, terminal: Terminal): readonly string[] {
  const { finishedLastHour, typicalMs, left, toCome, stuck } = pace;
  const isDone = left === 0 && stuck === 0 && !noLeader;
  const done = isDone ? [paint(terminal, 'good', 'All nodes that agents report run what they are offered.')] : [];
  if (left === 0 && stuck === 0 && toCome === 0) return done;
  const sentences = [
    `${finishedLastHour} finished in the last hour`,
    ...(typicalMs === undefined ? [] : [`an update takes ${durationText(typicalMs)}`]),
    ...endTexts(pace, now),
  ];
  return [...done, ...wrapped(`${sentences.join('; ')}.`, { columns: terminal.columns, indent: 2 })];
}

/** When the rollout ends, and who has to do something first. */
function endTexts({ stuck, toCome, waitsFor, endsAt, isCut }: Pace, now: number): readonly string[] {
  const rest = waitsFor.map(({ reason, nodes }) => `${firstOf(nodes, MAX_NAMED)} (${reason})`);
  const waits = rest.length > 0 ? `: waits for ${rest.join(', ')}` : '';
  const many = `${stuck} ${stuck === 1 ? 'node does' : 'nodes do'} not go on by ${stuck === 1 ? 'itself' : 'themselves'}`;
  return [
    ...(endsAt === undefined ? [] : [endText(endsAt, now, isCut)]),
    ...(toCome === 0 ? [] : [`${toCome} ${toCome === 1 ? 'node waits for its wave' : 'nodes wait for their waves'}`]),
    ...(stuck > 0 ? [`${many}${waits}`] : []),
  ];
}

const endText = (endsAt: number, now: number, isCut: boolean): string =>
  isCut ? `it ends after ${rfc3339(endsAt)}` : `about ${durationText(endsAt - now)} to go, until ${rfc3339(endsAt)}`;
