import { rfc3339 } from '../../lib/clock.ts';
import { Alarm } from './alarm.ts';
import type { CallOff, Command, SetSpec } from './commands.ts';
import { conditionFor } from './condition.ts';
import { findingFor, newestVersions } from './findings.ts';
import { endlessRefusal, type Gatekeeper, secondGate, stillRefused } from './gates.ts';
import { healthOf } from './health.ts';
import { calledOff, progress } from './machine.ts';
import type { Policy } from './policy.ts';
import { type Holder, Places } from './places.ts';
import { recover } from './recovery.ts';
import { type Assessed, type Halted, type ReleaseName, Releases } from './releases.ts';
import { settle } from './slots.ts';
import { stalled } from './stalled.ts';
import type { ShadowView, Snapshot } from './snapshot.ts';
import { chooseStarts, type Starts } from './starts.ts';
import { subjectsOf } from './subject.ts';
import { type Finding, found, type Reason, type Stop, type Verdict, verdictOn, WAITING } from './verdict.ts';
import { type Warning, warningsFor, withWarnings } from './warnings.ts';
import { Withheld } from './withheld.ts';

export interface Plan {
  /** At most one for each object. Conditions come last. */
  readonly commands: readonly Command[];
  /** Exactly one for each managed node, by name. */
  readonly verdicts: readonly Verdict[];
  /** Versions that no further node may start on. */
  readonly halted: readonly Halted[];
  /** Versions that nodes wait for. */
  readonly offered: readonly ReleaseName[];
  readonly warnings: readonly Warning[];
  /** How many nodes may be updating at once, and who takes a place. */
  readonly places: { readonly capacity: number; readonly holders: readonly Holder[] };
  /** When time alone may change the answer, milliseconds since the Unix epoch; undefined = never. */
  readonly wakeAt: number | undefined;
}

/** Decides everything, from what is known now and nothing else. @param now milliseconds since the Unix epoch */
export function plan(snapshot: Snapshot, policy: Policy, now: number): Plan {
  const alarm = new Alarm(now);
  const timestamp = rfc3339(now);
  const fleet = subjectsOf(snapshot).map((subject) => ({ subject, health: healthOf(subject, policy, alarm) }));
  const managed = fleet.filter(({ subject }) => subject.node.managed);
  const withheld = new Withheld(snapshot, alarm);
  const keeper: Gatekeeper = { snapshot, policy, alarm, withheld, releases: new Releases(managed) };
  const places = new Places(fleet, snapshot, policy);
  const starts = chooseStarts(managed, places, keeper);
  const stops = stopsOf(managed, starts, keeper);
  const writes = [...withheld.due(upkeep(fleet, stops, timestamp)), ...starts.commands];
  const commands = [
    ...writes,
    ...withheld.due(slotCommands(fleet, snapshot, writes)),
    ...withheld.due(adoptions(fleet, policy)),
  ];
  const warnings = warningsFor(fleet, policy);
  const verdicts = verdictsFor(managed, starts, { stops, keeper }).map((verdict) => withWarnings(verdict, warnings));
  const written = writtenShadows(commands);
  const conditions = conditionCommands(managed, verdicts, {
    written,
    withheld,
    limit: policy.conditionWrites,
    timestamp,
  });
  return {
    commands: [...commands, ...conditions],
    verdicts,
    halted: keeper.releases.halted(policy.maxFailed),
    offered: keeper.releases.offered,
    warnings,
    places: { capacity: places.capacity, holders: places.holders },
    wakeAt: alarm.next,
  };
}

/** By node UID. */
type Stops = ReadonlyMap<string, Stop>;

function stopsOf(managed: readonly Assessed[], { waiting }: Starts, keeper: Gatekeeper): Stops {
  const stops = new Map<string, Stop>();
  for (const { subject, health } of managed) {
    // Without its agent a node is rescued, whatever it was refused.
    const isRefusable = waiting && !health.agentSilent && !subject.shadow?.stale;
    const stop = secondGate(subject, keeper) ?? (isRefusable ? endlessRefusal(subject, keeper) : undefined);
    if (stop) stops.set(subject.node.uid, stop);
  }
  return stops;
}

/** Writes that need no slot: an update goes on, is called off, or is cleaned up after. */
function upkeep(fleet: readonly Assessed[], stops: Stops, timestamp: string): Command[] {
  const commands: Command[] = [];
  for (const { subject, health } of fleet) {
    const recovery = recover(subject, health);
    const goesOn = recovery === undefined || recovery.kind === 'disown';
    const step = goesOn ? nextStep({ subject, health }, stops, timestamp) : undefined;
    if (step) commands.push(step);
    if (recovery) commands.push(recovery);
  }
  return commands;
}

function nextStep({ subject, health }: Assessed, stops: Stops, timestamp: string): SetSpec | CallOff | undefined {
  const { node, shadow, slot } = subject;
  if (!node.managed || !shadow || shadow.stale || health.agentSilent) return undefined;
  const stop = stops.get(node.uid);
  if (stop) return ending(node.name, shadow, { stop, timestamp });
  const spec = progress(shadow, health.soak, timestamp);
  if (!spec) return undefined;
  const completes = health.soak === 'passed' && { completes: { beganAt: slot?.since } };
  return { kind: 'set-spec', shadow: shadow.name, resourceVersion: shadow.resourceVersion, spec, ...completes };
}

interface Ending {
  readonly stop: Stop;
  readonly timestamp: string;
}

function ending(node: string, shadow: ShadowView, { stop: { kind, because }, timestamp }: Ending): CallOff | undefined {
  if (kind === 'wait') return undefined;
  return { kind, node, shadow: shadow.name, spec: calledOff(shadow, timestamp), because };
}

/** Labels are given a few at a time, so that what moves updates on never waits for them. */
const ADOPTIONS = 50;

function adoptions(fleet: readonly Assessed[], { labelNodes }: Policy): Command[] {
  if (!labelNodes) return [];
  const joining = fleet.filter(({ subject }) => subject.node.joinable).slice(0, ADOPTIONS);
  return joining.map(({ subject }) => ({ kind: 'adopt', node: subject.node.name }));
}

function slotCommands(fleet: readonly Assessed[], { slots }: Snapshot, writes: readonly Command[]): Command[] {
  const holders = fleet.filter(({ subject }) => subject.slot);
  const byUid = new Map(holders.map((assessed) => [assessed.subject.node.uid, assessed]));
  const written = writtenShadows(writes);
  return slots
    .filter(({ shadow }) => !written.has(shadow))
    .flatMap((slot) => {
      const assessed = byUid.get(slot.nodeUid);
      return settle(slot, assessed?.subject, assessed?.health) ?? [];
    });
}

interface Gated {
  readonly stops: Stops;
  readonly keeper: Gatekeeper;
}

function verdictsFor(
  managed: readonly Assessed[],
  { commands, findings }: Starts,
  { stops, keeper }: Gated,
): Verdict[] {
  const newest = newestVersions(managed);
  const starting = new Map(commands.map(({ node, spec }) => [node, spec.version]));
  return managed.map((assessed, index) => {
    const { name: node, shadowName } = assessed.subject.node;
    const say = (one: Finding): Verdict => verdictOn(node, keeper.withheld.explain(one, shadowName));
    const version = starting.get(node);
    if (version) return verdictOn(node, found('Updating', `the node is being updated to ${version}`));
    const refusal = findings[index];
    const finding = findingFor(assessed, newest);
    if (!finding || !UNDER_WAY.has(finding.reason)) return say(finding ?? refusal ?? WAITING);
    const held = heldUp(assessed, { finding, stop: stops.get(assessed.subject.node.uid), keeper });
    return say(held ?? (refusal ? { ...finding, newer: refusal } : finding));
  });
}

/** Verdicts on updates that run. */
const UNDER_WAY: ReadonlySet<Reason> = new Set(['Updating', 'DrainBlocked']);

interface UnderWay {
  readonly finding: Finding;
  readonly stop: Stop | undefined;
  readonly keeper: Gatekeeper;
}

/** Why an update that runs does not go on, where there is more to say than that it runs. */
function heldUp({ subject, health }: Assessed, { finding, stop, keeper }: UnderWay): Finding | undefined {
  const { node, shadow } = subject;
  const isExplained = node.ready && (stop !== undefined || finding.reason === 'DrainBlocked');
  const stall = shadow && !isExplained ? stalled({ node, shadow, health }, keeper) : undefined;
  return stall ?? stop?.because ?? (finding.reason === 'Updating' ? stillRefused(subject, keeper) : undefined);
}

interface ConditionInput {
  /** Names of shadows that are about to be written. */
  readonly written: ReadonlySet<string>;
  readonly withheld: Withheld;
  readonly limit: number;
  readonly timestamp: string;
}

/**
 * A shadow that is about to be written, or whose view is out of date, gets its condition once that has been seen.
 * @param verdicts one for each of `managed`, in its order
 */
function conditionCommands(
  managed: readonly Assessed[],
  verdicts: readonly Verdict[],
  { written, withheld, limit, timestamp }: ConditionInput,
): Command[] {
  const commands: Command[] = [];
  for (const [
    index,
    {
      subject: { shadow },
    },
  ] of managed.entries()) {
    if (commands.length >= limit) break;
    const verdict = verdicts[index];
    if (!verdict || !shadow || shadow.stale || written.has(shadow.name)) continue;
    const command = conditionFor(shadow, verdict, timestamp);
    if (command) commands.push(...withheld.due([command]));
  }
  return commands;
}

/** A release writes to the node alone, so that a bump of the shadow need not wait for it. */
function writtenShadows(writes: readonly Command[]): Set<string> {
  const toShadows = writes.filter(({ kind }) => kind !== 'release');
  return new Set(toShadows.flatMap((command) => ('shadow' in command ? [command.shadow] : [])));
}
