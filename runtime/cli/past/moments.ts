import type { Marks } from '../../api/marks/marks.ts';
import { readMarks } from '../../api/marks/marks.ts';
import type { ShadowObject, UpdatePolicyObject } from '../../api/resources.ts';
import type { CoreEvent, Node } from '../../kube/objects.ts';
import { durationText, instantOf, MINUTE_MS } from '../../lib/clock.ts';
import { STEP_WORDS } from '../../controller/plan/facts/steps.ts';
import type { State } from '../../api/shadow/states.ts';
import type { Status } from '../../api/shadow/model.ts';
import { KIND, LAST_UPDATE_ANNOTATION, LAST_UPDATE_FINISHED_ANNOTATION, shadowName } from '../../api/shadow/names.ts';

/** Something that happened, or a state that began. */
export interface Moment {
  /** Milliseconds since the Unix epoch, by the clock of the writer. */
  readonly at: number;
  /** The object that it concerns, e.g. `Node a`. */
  readonly object: string;
  /** Where it is known from: an Event, a condition, or another field of the object. */
  readonly source: 'Event' | 'condition' | 'object';
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** How often, where an Event counts; `at` is then the last time. */
  readonly count: number | undefined;
}

/** The moment of an Event; two, the first and the last time, where the Event counts. */
export function momentsOfEvent(event: CoreEvent): readonly Moment[] {
  const last = lastTimeOf(event);
  if (last === undefined) return [];
  const said = saidIn(event);
  const [first, times] = [instantOf(event.firstTimestamp) ?? last, event.count ?? 1];
  const latest = { ...said, at: last, count: times > 1 ? times : undefined };
  return first < last ? [{ ...said, at: first, count: undefined }, latest] : [latest];
}

function lastTimeOf({ lastTimestamp, eventTime, metadata }: CoreEvent): number | undefined {
  return instantOf(lastTimestamp) ?? instantOf(eventTime) ?? instantOf(metadata.creationTimestamp);
}

function saidIn({ involvedObject: about, type: given, reason, message }: CoreEvent): Omit<Moment, 'at' | 'count'> {
  const object = `${about?.kind ?? 'object'} ${about?.name ?? '?'}`;
  const type = given === 'Warning' ? given : 'Normal';
  return { object, source: 'Event', type, reason: reason ?? '', message: message ?? '' };
}

type Fact = readonly [time: string | null | undefined, reason: string, message: string, type?: Moment['type']];

function stated(object: string, facts: readonly Fact[], source: Moment['source'] = 'object'): readonly Moment[] {
  return facts.flatMap(([time, reason, message, type = 'Normal']) => {
    const at = instantOf(time);
    return at === undefined ? [] : [{ at, object, source, type, reason, message, count: undefined }];
  });
}

/** Moments in a shadow: its last failure, its last complete update, and its present step. */
export function momentsOfShadow({ metadata, spec, status }: ShadowObject): readonly Moment[] {
  const object = `BottlerocketShadow ${metadata.name}`;
  const { annotations } = metadata;
  const seconds = Number(annotations?.[LAST_UPDATE_ANNOTATION]);
  const took = seconds > 0 ? `, after ${durationText(seconds * 1000)}` : '';
  return [
    ...stated(object, [
      [
        annotations?.[LAST_UPDATE_FINISHED_ANNOTATION],
        'LastUpdateFinished',
        `its last complete update was over${took}`,
      ],
      [spec.state_transition_timestamp, spec.state, `the controller asked for this${versionText(spec.version)}`],
    ]),
    ...(status ? momentsOfStatus(object, status) : []),
  ];
}

const versionText = (version: string | null | undefined): string =>
  version == null ? '' : `, on the way to ${version}`;

function momentsOfStatus(object: string, { crash_count: crashes, reboot, drain, conditions, ...status }: Status) {
  const { last_failure: failure } = status;
  const failed = failure ? `${failure.reason}: ${failure.message}` : 'the agent did not say why';
  const facts: Fact[] = [
    [drain?.started_at, 'DrainBegan', `${drain?.pods_left} pods are left`],
    [reboot?.requested_at, 'RebootRequested', `into ${reboot?.version}`],
  ];
  if (crashes > 0)
    facts.push([status.state_transition_failure_timestamp, 'Failed', `${failed} (${crashes} in a row)`, 'Warning']);
  const since = (conditions ?? []).map((one): Fact => [
    one.lastTransitionTime,
    one.type,
    `${one.status} since then; now ${one.reason}: ${one.message}`,
  ]);
  return [...stated(object, facts), ...stated(object, since, 'condition')];
}

/** Moments in a Node: since when it is Ready or not, and its present drain. */
export function momentsOfNode(node: Node): readonly Moment[] {
  const object = `Node ${node.metadata.name}`;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const marks = readMarks(node);
  return [
    ...stated(object, [[node.metadata.creationTimestamp, 'Created', 'the node joined the cluster']]),
    ...stated(
      object,
      [[ready?.lastTransitionTime, 'Ready', `${ready?.status} since then: ${ready?.reason ?? 'no reason given'}`]],
      'condition',
    ),
    ...(marks ? stated(object, factsOfMarks(marks)) : []),
  ];
}

const factsOfMarks = ({ since, drained, owns }: Marks): readonly Fact[] => [
  [since, 'Marked', `for a drain: ${owns.join(', ')}`],
  [drained, 'Drained', 'no pod was left'],
];

/** Moments in a policy's status: when each release was offered, proven and complete. */
export function momentsOfPolicy({ metadata, status }: UpdatePolicyObject): readonly Moment[] {
  const object = `BottlerocketUpdatePolicy ${metadata.name}`;
  return (status?.releases ?? []).flatMap(({ family, version, firstOfferedAt, provenAt, completedAt }) => {
    const release = `${version} (${family})`;
    return stated(object, [
      [firstOfferedAt, 'ReleaseOffered', `${release} was offered first`],
      [provenAt, 'ReleaseProven', `${release} was proven`],
      [completedAt, 'RolloutComplete', `no node waited for ${release} any more`],
    ]);
  });
}

/** By time. What an Event tells is not told again by the object that it is about. */
export function byTime(moments: readonly Moment[]): readonly Moment[] {
  const events = Map.groupBy(
    moments.filter(({ source }) => source === 'Event'),
    ({ reason }) => reason,
  );
  const isTold = (moment: Moment): boolean =>
    (TOLD_BY[moment.reason] ?? [moment.reason]).some((reason) =>
      events.get(reason)?.some((event) => isTwin(event, moment)),
    );
  return moments.filter((one) => one.source !== 'object' || !isTold(one)).toSorted((a, b) => a.at - b.at);
}

/** Reasons of Events that tell what a field does under a reason of another name. */
const TOLD_BY: Readonly<Record<string, readonly string[]>> = {
  LastUpdateFinished: ['UpdateFinished'],
  Failed: ['UpdateFailed', 'UpdateCancelled'],
  StagedAndPerformedUpdate: ['UpdateStarted'],
  Idle: ['UpdateFinished', 'UpdateFailed', 'UpdateCancelled', 'UpdateCalledOff', 'UpdateRescued'],
  DrainBegan: ['DrainStarted'],
  Drained: ['DrainFinished'],
};

/** Clocks of two writers may differ, and an Event may come late. */
const TWINS_MS = MINUTE_MS;

const isTwin = (a: Moment, b: Moment): boolean =>
  Math.abs(a.at - b.at) <= TWINS_MS && nodeIn(a.object) === nodeIn(b.object);

/** The Node of a shadow, or the object itself. */
const nodeIn = (object: string): string => object.replace(`${KIND} ${shadowName('')}`, 'Node ');

/** What a moment is called on a screen: a state of the contract is what its node does then. */
export const wordOf = ({ reason }: Pick<Moment, 'reason'>): string => STATE_WORDS[reason] ?? reason;

const STATE_WORDS: Readonly<Record<string, string>> = {
  StagedAndPerformedUpdate: STEP_WORDS.staging,
  RebootedIntoUpdate: `${STEP_WORDS.draining} and ${STEP_WORDS.rebooting}`,
  MonitoringUpdate: STEP_WORDS.soaking,
  Idle: 'at rest',
} satisfies Partial<Record<State, string>>;
