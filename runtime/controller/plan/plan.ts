import { rfc3339 } from '../../lib/clock.ts';
import { shadowName } from '../../shadow/names.ts';
import { Alarm } from './alarm.ts';
import type { Command } from './commands.ts';
import { conditionFor } from './condition.ts';
import { findingFor, newestVersions } from './findings.ts';
import type { Gatekeeper } from './gates.ts';
import { healthOf } from './health.ts';
import { progress } from './machine.ts';
import type { Policy } from './policy.ts';
import { isOccupied, recover } from './recovery.ts';
import { type Assessed, Releases } from './releases.ts';
import { settle } from './slots.ts';
import type { Snapshot } from './snapshot.ts';
import { chooseStarts, type Starts } from './starts.ts';
import { isActive, subjectsOf } from './subject.ts';
import { type Finding, found, type Verdict, verdictOn } from './verdict.ts';

export interface Plan {
  /** At most one for each object. Conditions come last. */
  readonly commands: readonly Command[];
  /** Exactly one for each managed node, by name. */
  readonly verdicts: readonly Verdict[];
  /** When time alone may change the answer, milliseconds since the Unix epoch; undefined = never. */
  readonly wakeAt: number | undefined;
}

/** Decides everything, from what is known now and nothing else. @param now milliseconds since the Unix epoch */
export function plan(snapshot: Snapshot, policy: Policy, now: number): Plan {
  const alarm = new Alarm(now);
  const fleet = subjectsOf(snapshot, shadowName).map((subject) => ({
    subject,
    health: healthOf(subject, policy, alarm),
  }));
  const keeper: Gatekeeper = { snapshot, policy, alarm, releases: new Releases(fleet) };
  const starts = chooseStarts(fleet, busyNodes(fleet, snapshot), keeper);
  const writes = [...upkeep(fleet, now), ...starts.commands];
  const commands = [...writes, ...slotCommands(fleet, snapshot, writes)];
  const verdicts = verdictsFor(fleet, starts);
  const conditions = policy.conditions ? conditionCommands(fleet, { verdicts, writes: commands, now }) : [];
  return { commands: [...commands, ...conditions], verdicts, wakeAt: alarm.next };
}

/** UIDs of the nodes that take a place (rule L6). A shadow whose node is not known counts as its owner. */
function busyNodes(fleet: readonly Assessed[], { slots, shadows }: Snapshot): Set<string> {
  const occupied = fleet.filter(({ subject, health }) => isOccupied(subject, health));
  const known = new Set(fleet.map(({ subject }) => subject.node.uid));
  const strays = shadows.filter(({ ownerUid }) => ownerUid !== undefined && !known.has(ownerUid)).filter(isActive);
  return new Set([
    ...slots.map(({ nodeUid }) => nodeUid),
    ...occupied.map(({ subject }) => subject.node.uid),
    ...strays.map(({ ownerUid }) => ownerUid as string),
  ]);
}

/** Writes that need no slot: an update goes on, or is cleaned up after. */
function upkeep(fleet: readonly Assessed[], now: number): Command[] {
  const timestamp = rfc3339(now);
  return fleet.flatMap(({ subject, health }): Command[] => {
    const { node, shadow } = subject;
    const recovery = recover(subject, shadowName(node.name), health);
    if (recovery && recovery.kind !== 'disown') return [recovery];
    const goesOn = node.managed && shadow && !shadow.stale && !health.agentSilent;
    const spec = goesOn ? progress(shadow, health.soak, timestamp) : undefined;
    const step: Command[] =
      shadow && spec ? [{ kind: 'set-spec', shadow: shadow.name, resourceVersion: shadow.resourceVersion, spec }] : [];
    return recovery ? [...step, recovery] : step;
  });
}

function slotCommands(fleet: readonly Assessed[], { slots }: Snapshot, writes: readonly Command[]): Command[] {
  const byUid = new Map(fleet.map((assessed) => [assessed.subject.node.uid, assessed]));
  const written = writtenShadows(writes);
  return slots
    .filter(({ shadow }) => !written.has(shadow))
    .flatMap((slot) => {
      const assessed = byUid.get(slot.nodeUid);
      return settle(slot, assessed?.subject, assessed?.health) ?? [];
    });
}

function verdictsFor(fleet: readonly Assessed[], { commands, findings }: Starts): Verdict[] {
  const newest = newestVersions(fleet.map(({ subject }) => subject));
  const starting = new Map(commands.map(({ node, spec }) => [node, spec.version]));
  const managed = fleet.filter(({ subject }) => subject.node.managed);
  return managed.map((assessed) => {
    const node = assessed.subject.node.name;
    const version = starting.get(node);
    const begun = version ? found('Updating', `the node is being updated to ${version}`) : undefined;
    return verdictOn(node, begun ?? findingFor(assessed, newest) ?? findings.get(node) ?? NOT_YET);
  });
}

const NOT_YET: Finding = found('WaitingForSlot', 'other nodes are being updated');

interface ConditionInput {
  readonly verdicts: readonly Verdict[];
  readonly writes: readonly Command[];
  readonly now: number;
}

/** A shadow that is about to be written, or whose view is out of date, gets its condition once that has been seen. */
function conditionCommands(fleet: readonly Assessed[], { verdicts, writes, now }: ConditionInput): Command[] {
  const written = writtenShadows(writes);
  const byNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  return fleet.flatMap(({ subject: { node, shadow } }) => {
    const verdict = byNode.get(node.name);
    if (!verdict || !shadow || shadow.stale || written.has(shadow.name)) return [];
    return conditionFor(shadow, verdict, now) ?? [];
  });
}

function writtenShadows(writes: readonly Command[]): Set<string> {
  return new Set(writes.flatMap((command) => ('shadow' in command ? [command.shadow] : [])));
}
