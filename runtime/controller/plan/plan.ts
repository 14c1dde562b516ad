import { rfc3339 } from '../../lib/clock.ts';
import { Alarm } from './alarm.ts';
import type { Command, SetSpec } from './commands.ts';
import { conditionFor } from './condition.ts';
import { findingFor, newestVersions } from './findings.ts';
import type { Gatekeeper } from './gates.ts';
import { healthOf } from './health.ts';
import { progress } from './machine.ts';
import type { Policy } from './policy.ts';
import { Places } from './places.ts';
import { recover } from './recovery.ts';
import { type Assessed, type Halted, type ReleaseName, Releases } from './releases.ts';
import { settle } from './slots.ts';
import type { Snapshot } from './snapshot.ts';
import { chooseStarts, type Starts } from './starts.ts';
import { subjectsOf } from './subject.ts';
import { type Finding, found, type Verdict, verdictOn, WAITING } from './verdict.ts';
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
  const starts = chooseStarts(managed, new Places(fleet, snapshot, policy), keeper);
  const writes = [...withheld.due(upkeep(fleet, timestamp)), ...starts.commands];
  const commands = [
    ...writes,
    ...withheld.due(slotCommands(fleet, snapshot, writes)),
    ...withheld.due(adoptions(fleet, policy)),
  ];
  const warnings = warningsFor(fleet, policy);
  const verdicts = verdictsFor(managed, starts, withheld).map((verdict) => withWarnings(verdict, warnings));
  const written = writtenShadows(commands);
  const conditions = conditionCommands(managed, verdicts, { written, limit: policy.conditionWrites, timestamp });
  return {
    commands: [...commands, ...conditions],
    verdicts,
    halted: keeper.releases.halted(policy.maxFailed),
    offered: keeper.releases.offered,
    warnings,
    wakeAt: alarm.next,
  };
}

/** Writes that need no slot: an update goes on, or is cleaned up after. */
function upkeep(fleet: readonly Assessed[], timestamp: string): Command[] {
  const commands: Command[] = [];
  for (const { subject, health } of fleet) {
    const recovery = recover(subject, health);
    const goesOn = recovery === undefined || recovery.kind === 'disown';
    const step = goesOn ? nextStep({ subject, health }, timestamp) : undefined;
    if (step) commands.push(step);
    if (recovery) commands.push(recovery);
  }
  return commands;
}

function nextStep({ subject, health }: Assessed, timestamp: string): SetSpec | undefined {
  const { node, shadow, slot } = subject;
  if (!node.managed || !shadow || shadow.stale || health.agentSilent) return undefined;
  const spec = progress(shadow, health.soak, timestamp);
  if (!spec) return undefined;
  const completes = health.soak === 'passed' && slot?.since !== undefined && { beganAt: slot.since };
  return { kind: 'set-spec', shadow: shadow.name, resourceVersion: shadow.resourceVersion, spec, ...completes };
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

function verdictsFor(managed: readonly Assessed[], { commands, findings }: Starts, withheld: Withheld): Verdict[] {
  const newest = newestVersions(managed);
  const starting = new Map(commands.map(({ node, spec }) => [node, spec.version]));
  return managed.map((assessed, index) => {
    const { name: node, shadowName } = assessed.subject.node;
    const say = (one: Finding): Verdict => verdictOn(node, withheld.explain(one, shadowName));
    const version = starting.get(node);
    if (version) return verdictOn(node, found('Updating', `the node is being updated to ${version}`));
    const refusal = findings[index];
    const finding = findingFor(assessed, newest);
    if (finding?.reason === 'Updating' && refusal) return say({ ...finding, newer: refusal });
    return say(finding ?? refusal ?? WAITING);
  });
}

interface ConditionInput {
  /** Names of shadows that are about to be written. */
  readonly written: ReadonlySet<string>;
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
  { written, limit, timestamp }: ConditionInput,
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
    if (command) commands.push(command);
  }
  return commands;
}

/** A release writes to the node alone, so that a bump of the shadow need not wait for it. */
function writtenShadows(writes: readonly Command[]): Set<string> {
  const toShadows = writes.filter(({ kind }) => kind !== 'release');
  return new Set(toShadows.flatMap((command) => ('shadow' in command ? [command.shadow] : [])));
}
