import type { Reason } from '../../controller/plan/verdict.ts';
import { durationText, rfc3339 } from '../../lib/clock.ts';
import { type Look, paint, table, wrapped } from '../look.ts';
import { STEPS } from './fleet.ts';
import type { Counts, FamilyStatus, FleetStatus, PolicyStatus, Reasoned, Updating } from './status.ts';

/** The fleet for people: first what needs them, then how far it is, what goes on, what waits, and when it may be over. */
export function statusLines(status: FleetStatus, look: Look): readonly string[] {
  const { counts, paused, notKnown } = status;
  if (counts.nodes === 0) return [...unknown(notKnown, look), NO_NODES];
  const sections = [
    [
      ...(paused
        ? [paint(look, 'late', 'The fleet is paused: no update starts. kubectl brupop resume ends that.')]
        : []),
      ...unknown(notKnown, look),
    ],
    needsYouLines(status, look),
    progressLines(status, look),
    updatingLines(status.updating, look),
    waitingLines(status, look),
    paceLines(status, look),
  ].filter((lines) => lines.length > 0);
  return sections.flatMap((lines, index) => (index === 0 ? lines : [''].concat(lines)));
}

const NO_NODES = 'No node is managed: none bears the label bottlerocket.aws/updater-interface-version=2.0.0.';

const unknown = (notKnown: readonly string[], look: Look): readonly string[] =>
  notKnown.flatMap((one) => wrapped(paint(look, 'late', `not known: ${one}`), { columns: look.columns, indent: 2 }));

/** How many nodes are named. */
const NAMED = 3;

function namesOf(nodes: readonly string[]): string {
  const shown = nodes.slice(0, NAMED).join(', ');
  return nodes.length > NAMED ? `${shown} and ${nodes.length - NAMED} more` : shown;
}

function needsYouLines({ needsYou, halted, now }: FleetStatus, look: Look): readonly string[] {
  if (needsYou.length === 0 && halted.length === 0) return [];
  const releases = halted.map(({ version, family, failures, policy }) => {
    const where = policy === undefined ? '' : ` of policy ${policy}`;
    return `${version} (${family}) is halted: it failed on ${failures} nodes${where}`;
  });
  const nodes = needsYou.map((one) => `${reasonedText(one, now)}. ${REMEDIES[one.reason] ?? ''}`.trimEnd());
  const said = [...releases, ...nodes].flatMap((text) => wrapped(`  ${text}`, { columns: look.columns, indent: 4 }));
  return [paint(look, 'bad', 'NEEDS YOU'), ...said];
}

/** What to do. */
export const REMEDIES: Partial<Readonly<Record<Reason, string>>> = {
  NotReturned: 'Look at the machine, or delete its Node.',
  SoakFailed: 'Look at the node.',
  ProgressDeadlineExceeded: 'Look at the node and the log of its agent.',
  RolloutHalted: 'Repair a node that failed, or wait for a better release.',
  DrainBlocked: 'Look at the workload, or wait until the drain times out.',
  PolicyInvalid: 'Mend the policy.',
  PolicyConflict: 'Give one of the policies another priority.',
  WriteRefused: 'Look at the policy, webhook or right that refuses it.',
  AgentSilent: "Look at the agent's pod on the node.",
  AgentMissing: "Look at the agent's pod on the node.",
  ShadowNotOwned: 'Delete the shadow: the agent makes it anew.',
};

function reasonedText({ reason, policy, message, nodes, since, until }: Reasoned, now: number): string {
  const details = [
    policy === undefined ? undefined : `policy ${policy}`,
    since === undefined ? undefined : `for ${durationText(now - since)}`,
    until === undefined ? undefined : `in ${durationText(until - now)}`,
  ].filter((detail) => detail !== undefined);
  return `${namesOf(nodes)}  ${reason}: ${message}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}

/** A line for the fleet, each policy, each of its zones, and each family. */
function progressLines(status: FleetStatus, look: Look): readonly string[] {
  const { counts, policies, families } = status;
  const [only] = policies;
  const hasPolicies = policies.length > 1 || only?.name !== undefined;
  const rows = [
    row('fleet', counts, look),
    ...policies.flatMap((policy) => policyRows(policy, { named: hasPolicies, look })),
    ...families.map((family) => row(family.name || 'unknown', family.counts, look).concat(versionsOf(family))),
  ];
  const notes = policies.flatMap(({ name, progressing, halted }) =>
    [progressing, halted].flatMap((text) => (text === undefined ? [] : [`policy ${name}: ${text}`])),
  );
  return [
    ...table([HEAD.map((cell) => paint(look, 'head', cell)), ...rows], look),
    ...notes.flatMap((note) => wrapped(note, { columns: look.columns, indent: 2 })),
  ];
}

const HEAD = ['', 'DONE', 'PROGRESS', 'UPDATING', 'WAITING', 'FAILED', 'VERSIONS'];

interface Named {
  readonly named: boolean;
  readonly look: Look;
}

function policyRows({ name, counts, zones }: PolicyStatus, { named, look }: Named): string[][] {
  const own = row(name === undefined ? 'no policy' : `policy ${name}`, counts, look);
  const indent = named ? '  ' : '';
  return [...(named ? [own] : []), ...zones.map((zone) => row(`${indent}zone ${zone.name}`, zone.counts, look))];
}

/** Names that are longer leave no room for anything else. */
function row(name: string, counts: Counts, look: Look): string[] {
  const { nodes, upToDate, updating, waiting, failed } = counts;
  const short = name.length > look.columns / 2 ? `${name.slice(0, Math.floor(look.columns / 2) - 1)}…` : name;
  const failures = failed > 0 ? paint(look, 'bad', String(failed)) : '0';
  return [short, `${upToDate}/${nodes}`, bar(counts, look), String(updating), String(waiting), failures];
}

/** What is done, what goes on, what has failed, and the rest. One node of very many is still seen. */
function bar({ nodes, upToDate, updating, failed }: Counts, look: Look): string {
  const width = Math.max(6, Math.min(20, Math.floor(look.columns / 4)));
  const share = (count: number, rounded: (value: number) => number): number =>
    nodes === 0 ? 0 : Math.min(width, rounded((count * width) / nodes));
  const bad = share(failed, Math.ceil);
  const busy = Math.min(width - bad, share(updating, Math.ceil));
  const done = nodes > 0 && upToDate === nodes ? width : Math.min(width - bad - busy, share(upToDate, Math.floor));
  const parts = [
    paint(look, 'good', '#'.repeat(done)),
    paint(look, 'busy', '>'.repeat(busy)),
    paint(look, 'bad', '!'.repeat(bad)),
    '.'.repeat(width - done - busy - bad),
  ];
  return `[${parts.join('')}]`;
}

function versionsOf({ runs, offered }: FamilyStatus): string {
  const newer = offered.filter((version) => !runs.includes(version) || runs.length > 1);
  return newer.length > 0 ? `${runs.join(', ')} -> ${offered.join(', ')}` : runs.join(', ');
}

/** How many nodes are at which step, and the first of each. */
function updatingLines(updating: readonly Updating[], look: Look): readonly string[] {
  if (updating.length === 0) return [];
  const lines = STEPS.flatMap((step) => {
    const those = updating.filter((one) => one.step === step);
    if (those.length === 0) return [];
    const named = those.slice(0, NAMED).map((one) => `${one.node}${drainText(one)}`);
    const more = those.length > NAMED ? ` and ${those.length - NAMED} more` : '';
    const text = `  ${step.padEnd(9)}  ${those.length}  ${named.join(', ')}${more}`;
    return wrapped(text, { columns: look.columns, indent: 4 });
  });
  return [paint(look, 'head', 'UPDATING'), ...lines];
}

function drainText({ podsLeft, blockedBy }: Updating): string {
  if (podsLeft === undefined) return '';
  const blockers = blockedBy.length > 0 ? `, blocked by ${namesOf(blockedBy)}` : '';
  return ` (${podsLeft} pods left${blockers})`;
}

function waitingLines({ waiting, now }: FleetStatus, look: Look): readonly string[] {
  if (waiting.length === 0) return [];
  const lines = waiting.flatMap((one) => {
    const text = `  ${String(one.nodes.length).padStart(3)}  ${reasonedText(one, now)}`;
    return wrapped(text, { columns: look.columns, indent: 7 });
  });
  return [paint(look, 'head', 'WAITING'), ...lines];
}

function paceLines({ pace, now }: FleetStatus, look: Look): readonly string[] {
  const { finishedLastHour, typicalMs, left, stuck, endsAt } = pace;
  if (left === 0 && stuck === 0)
    return [paint(look, 'good', 'All nodes that agents report run what they are offered.')];
  const sentences = [
    `${finishedLastHour} finished in the last hour`,
    ...(typicalMs === undefined ? [] : [`an update takes ${durationText(typicalMs)}`]),
    ...(endsAt === undefined ? [] : [`about ${durationText(endsAt - now)} to go, until ${rfc3339(endsAt)}`]),
    ...(stuck > 0 ? [`${stuck} do not go on by themselves`] : []),
  ];
  return wrapped(`${sentences.join('; ')}.`, { columns: look.columns, indent: 2 });
}
