import { arrivalsOf, countedIn } from './gates/arrivals.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { stopsOf, type Stops } from './gates/again.ts';
import { busyNodes, type Holder, holdersOf, isOut, placesOf, unhealthyOf } from './groups/busy.ts';
import { type CallOff, type Command, type SetSpec, writtenShadows } from './facts/commands.ts';
import { conditionCommands } from './facts/conditions.ts';
import type { CheckTry } from './facts/checks.ts';
import { checksOf } from './groups/checks.ts';
import { Dependencies } from './groups/dependencies.ts';
import { askingOf, type World } from './gates/asking.ts';
import { findingsOf } from './gates/gates.ts';
import { Groups } from './groups/groups.ts';
import { type GoingBack, goingBackIn } from './answer/going-back.ts';
import { assess, type AssessedNode, type Fleet } from './nodes/health.ts';
import { restingWrites } from './gates/resting.ts';
import { Books } from './releases/books.ts';
import { EnteredLedgers } from './releases/entered.ts';
import { Ledgers } from './facts/ledgers.ts';
import { ledgerWrites, type ReleaseWrite } from './groups/ledger.ts';
import { calledOff, progress } from './facts/machine.ts';
import { answeredRequests } from './nodes/requests.ts';
import { saidWith } from './nodes/onwards.ts';
import { recover, recoverPermit } from './nodes/recovery.ts';
import { withTerms } from './nodes/terms.ts';
import { offers } from './answer/offers.ts';
import type { Halted, ReleaseUnderPolicy } from './releases/os-release.ts';
import {
  type PolicyReport,
  type ReleaseReport,
  releasesChangeAt,
  releasesUnderVariables,
  reportOn,
  reportOnLost,
} from './answer/report.ts';
import { NONE_GIVEN } from './facts/places.ts';
import { type Preference, preferencesOf } from './gates/preferences.ts';
import { NEVER, nextAfter } from './facts/requeue.ts';
import { Rulings } from './facts/rulings.ts';
import type { Settings, Snapshot } from './facts/snapshot.ts';
import { chooseStarts, type Starts } from './gates/starts.ts';
import type { Finding, Stop, Verdict } from './facts/verdict.ts';
import { judge } from './answer/judge.ts';
import { type Warning, warningsFor } from './answer/warnings.ts';
import { Withheld } from './gates/withheld.ts';

export interface Plan {
  /** At most one for each object. Conditions come last. */
  readonly commands: readonly Command[];
  /** Exactly one for each managed node, by name. */
  readonly verdicts: readonly Verdict[];
  /** Versions that no further node may start on. */
  readonly halted: readonly Halted[];
  /** Versions that nodes wait for. */
  readonly offered: readonly ReleaseUnderPolicy[];
  readonly warnings: readonly Warning[];
  /** What is to be written to the ledgers of releases. */
  readonly ledger: readonly ReleaseWrite[];
  /** Nodes that are to bear the taint `waiting`, or bear it no longer: those that are not so yet. */
  readonly preferences: readonly Preference[];
  /** Names of the nodes whose taint `arriving` is to go. */
  readonly arrivals: readonly string[];
  /** What is to be asked of checks. */
  readonly tries: readonly CheckTry[];
  /** One for each policy that is a resource, by name. */
  readonly policies: readonly PolicyReport[];
  /** How releases do on the nodes that the controller's variables rule. */
  readonly releases: readonly ReleaseReport[];
  /** How many nodes may be updating at once, and who takes that up. */
  readonly budget: { readonly capacity: number; readonly holders: readonly Holder[] };
  /** When time alone may change the answer, milliseconds since the Unix epoch; undefined = never. */
  readonly requeueAt: number | undefined;
}

/** What plans leave to those after them, which need not make it again. No answer depends on it. */
export interface Memory {
  rulings?: Rulings;
  fleet?: Fleet;
}

interface At {
  readonly now: number;
  readonly memory?: Memory;
}

/** Makes a plan. It depends on nothing but its arguments. */
export function plan(snapshot: Snapshot, settings: Settings, at: At): Plan {
  const { rulings, fleet, groups, busy, starts, world, out } = start(snapshot, settings, at);
  const { withheld, ledgers, entered, places, now } = world;
  const { managed, unsettled } = fleet;
  const { stops, stopsAt } = stopsOf(fleet, { ...starts, places }, { ...world, places: out, given: NONE_GIVEN });
  const { wanted, commands } = withoutConditions(fleet, { starts, stops }, world);
  const warnings = warningsFor(fleet.all, groups, settings);
  const resting = restingWrites(fleet, { starts, commands }, world);
  const decisions = { starts, stops, refusals: withheld.firstOf([...wanted, ...resting.wishes]), warnings };
  const { verdicts, changesAt } = judge(managed, decisions, world);
  const written = writtenShadows([...commands, ...resting.commands]);
  const checks = checksOf({ groups, entered, stops, answers: snapshot.checks, now });
  const ledger = ledgerWrites({ ...world, checks });
  const limit = ledgers.awaits(ledger) ? 0 : settings.conditionWrites;
  const conditions = conditionCommands(managed, verdicts, { written, limit, now });
  const offered = offers(groups, fleet);
  const known = { ...world, starts, stopsAt, halted: offered.halted };
  const policies = [...groups.all.flatMap((group) => reportOn(group, known) ?? []), ...rulings.lost.map(reportOnLost)];
  const preferences = preferencesOf(fleet.all, starts, world);
  const arrivals = arrivalsOf(fleet.all, starts, world);
  // Of nodes that are no longer managed too: what they leave behind is cleaned up when its time has come.
  const healthChangesAt = unsettled.map(({ health }) => health.changesAt);
  const times = [...healthChangesAt, ...starts.changesAt.values(), ...stopsAt.values(), changesAt];
  times.push(...groups.all.map(releasesChangeAt), ...policies.map(({ nextChangeAt }) => nextChangeAt ?? NEVER));
  times.push(checks.changesAt, entered.changesAt, resting.changesAt, preferences.changesAt, arrivals.changesAt);
  const requeueAt = nextAfter(now, [...times, withheld.changesAt(wanted)]);
  return {
    commands: [...commands, ...resting.commands, ...conditions],
    verdicts,
    ...offered,
    warnings,
    ledger,
    tries: checks.tries,
    preferences: preferences.due,
    arrivals: arrivals.over,
    policies,
    releases: releasesUnderVariables(groups.all),
    budget: { capacity: places.all.limit, holders: holdersOf(busy, countedIn(starts, world)) },
    requeueAt: requeueAt === NEVER ? undefined : requeueAt,
  };
}

/** What starts, and what that was decided on. */
function start(snapshot: Snapshot, settings: Settings, { now, memory = {} }: At) {
  const rulings = new Rulings(snapshot, memory.rulings);
  const ledgers = new Ledgers(snapshot.releases);
  const fleet = assess(snapshot, { rulings, settings, ledgers, now, last: memory.fleet });
  Object.assign(memory, { rulings, fleet });
  const entered = new EnteredLedgers(ledgers, { snapshot, rulings, fleet, settings, now });
  const names = new Set(snapshot.policies.map(({ policy }) => policy.name ?? ''));
  const books = new Books(entered, { ledgers, names, isCurrent: snapshot.notCurrent === undefined, now });
  const groups = new Groups(rulings, fleet, { ...settings, now, books });
  const busy = busyNodes(fleet, snapshot, { ...settings, now });
  const limits = { ...settings, ...snapshot, members: fleet.size };
  const facts = {
    snapshot,
    settings,
    rulings,
    unhealthy: unhealthyOf(fleet, settings),
    groups,
    now,
    dependencies: new Dependencies(groups, entered),
    ledgers,
    entered,
    withheld: new Withheld(snapshot, now),
    places: placesOf(busy, groups, limits),
  };
  const starts = chooseStarts(fleet, { ...facts, given: NONE_GIVEN });
  const out = placesOf(busy.filter(isOut), groups, limits);
  return { rulings, fleet, groups, busy, starts, out, world: { ...facts, given: starts.given } };
}

/** Everything that keeps a node from the update that it is offered, where its verdict names the first. @returns asks by the node's name */
export function keepersOf(...made: Parameters<typeof plan>): (node: string) => readonly Finding[] {
  const { fleet, starts, world } = start(...made);
  const byName = new Map(fleet.managed.map((info) => [info.node.name, info]));
  return (name) => {
    const info = byName.get(name);
    const { shadow, offered: version } = info ?? {};
    const isWaiting = info && shadow && version !== undefined && !starts.starting.has(info);
    return isWaiting ? findingsOf(askingOf(info, { shadow, version }, world), world) : [];
  };
}

/** Where nodes go that are to leave what they run, by name. */
export function goingBackOf(...made: Parameters<typeof plan>): readonly GoingBack[] {
  const { fleet, world } = start(...made);
  return goingBackIn(fleet.managed, world.groups);
}

/** `wanted`: every command except starts and conditions. `commands`: those of them that may be sent now, and all starts. */
function withoutConditions(
  { all, unsettled }: Fleet,
  { starts, stops }: { readonly starts: Starts; readonly stops: Stops },
  world: World,
): { readonly wanted: readonly Command[]; readonly commands: readonly Command[] } {
  const { withheld } = world;
  const steps = upkeep(unsettled, stops, world);
  const writes = [...withheld.due(steps), ...starts.commands];
  const rest = [...permitCommands(unsettled, world, writes), ...adoptions(all, world), ...answeredRequests(unsettled)];
  return { wanted: [...steps, ...rest], commands: [...writes, ...withheld.due(rest)] };
}

/** Writes that need no permit: an update goes on, is called off, or is cleaned up after. */
function upkeep(unsettled: readonly AssessedNode[], stops: Stops, world: World): Command[] {
  const commands: Command[] = [];
  for (const info of unsettled) {
    if (!world.entered.mayRest(info)) continue;
    const recovery = recover(info);
    const goesOn = recovery === undefined || recovery.kind === 'disown';
    const step = goesOn ? nextStep(info, stops.get(info.node.uid), world) : undefined;
    if (step) commands.push(step);
    if (recovery) commands.push(recovery);
  }
  return commands;
}

function nextStep(info: AssessedNode, stop: Stop | undefined, world: World): SetSpec | CallOff | undefined {
  const { node, shadow, health, phase } = info;
  const { settings, now } = world;
  if (!node.managed || !shadow || shadow.stale || health.agentSilent) return undefined;
  if (stop?.kind === 'wait') return undefined;
  if (stop) {
    const spec = calledOff(shadow, rfc3339(now));
    return { ...stop, kind: 'call-off', node: node.name, shadow: shadow.name, spec };
  }
  const spec = withTerms(progress({ shadow, phase }, health.soak, rfc3339(now)), info, world);
  if (!spec) return undefined;
  const more = saidWith(info, shadow, { spec, at: { ...settings, now } });
  return { kind: 'set-spec', shadow: shadow.name, resourceVersion: shadow.resourceVersion, spec, ...more };
}

function permitCommands(
  unsettled: readonly AssessedNode[],
  { snapshot: { permits }, entered }: Pick<World, 'snapshot' | 'entered'>,
  writes: readonly Command[],
): Command[] {
  if (permits.length === 0) return [];
  const holders = unsettled.filter(({ permit }) => permit);
  const byUid = new Map(holders.map((info) => [info.node.uid, info]));
  const written = writtenShadows(writes);
  return permits
    .filter(({ shadow }) => !written.has(shadow))
    .flatMap((permit): Command | readonly Command[] => {
      const holder = byUid.get(permit.nodeUid);
      const recovery = recoverPermit(permit, holder);
      const due = recovery?.kind === 'free' ? entered.freed(recovery, permit, holder)[0] : recovery;
      return due ?? (holder && entered.noteOf(holder)) ?? [];
    });
}

/** Nodes that are labelled by one plan: the writes that move updates on must not wait for many of these. */
const ADOPTIONS = 50;

/** Those that are withheld do not count: where as many are refused, the others still join. */
function adoptions(
  fleet: readonly AssessedNode[],
  { settings, withheld }: Pick<World, 'settings' | 'withheld'>,
): readonly Command[] {
  if (!settings.labelNodes) return [];
  const joining = fleet.filter(({ node }) => node.joinable);
  const wanted = joining.map(({ node }): Command => ({ kind: 'adopt', node: node.name }));
  const due = new Set(withheld.due(wanted));
  return [...[...due].slice(0, ADOPTIONS), ...wanted.filter((command) => !due.has(command))];
}
