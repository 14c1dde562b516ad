import type { Entry, HostEntry, Instant, RequestEntry } from '../types.ts';
import {
  isApiserver,
  isOperator,
  type NodeFacts,
  type RecordFacts,
  shadowFacts,
  type ShadowFacts,
  type StatusFacts,
} from './facts.ts';
import type { Picture } from './picture.ts';
import { clock, NOTHING, type Rule, type Write } from './rule.ts';
import { isTaken } from './seen-host.ts';

/** B5: a status lands only on the shadow on which its agent has acted, and so on the spec that it speaks of. */
export const actedOn: Rule = {
  name: 'acted-on',
  begin(picture) {
    // By shadow, the latest boot that was ever on record.
    const latest = new Map<string, number>();
    return {
      see(entry) {
        const report = reportIn(picture, entry);
        return report ? [...unfitting(report), ...older(picture, latest, report)] : NOTHING;
      },
    };
  },
};

interface Report {
  readonly was: StatusFacts;
  readonly made: ShadowFacts;
  readonly is: StatusFacts;
  readonly at: Instant;
}

/** What our own agents say; the older operator's acts on no version. */
function reportIn({ processes }: Picture, entry: Entry): Report | undefined {
  if (entry.kind !== 'write' || entry.resource !== 'bottlerocketshadows' || !isApiserver(entry.by)) return undefined;
  const { before, after, at } = entry;
  if (!before || !after) return undefined;
  const [old, made] = [shadowFacts(before), shadowFacts(after)];
  if (!old.status || !made.status || processes.has(`upstream-agent-${made.node}`)) return undefined;
  return { was: old.status, made, is: made.status, at };
}

function unfitting({ was, is, made: { node, state: wanted, version } }: Report): readonly string[] {
  if (is.state !== was.state)
    return reaches(is.state, wanted) ? NOTHING : [`${node} reports ${is.state}, and is wanted in ${wanted}`];
  if (takesBack(was.record, is.record)) return [`${node} has recorded a reboot, and takes that back`];
  const into = recordedAnew(was.record, is.record);
  return into === undefined || (wanted === 'RebootedIntoUpdate' && version === into)
    ? NOTHING
    : [`${node} records a reboot into ${into}, and is wanted in ${wanted} ${version}`];
}

const reaches = (state: string, wanted: string): boolean =>
  state === 'ErrorReset' ? wanted !== 'Idle' : state === wanted;

type Known = RecordFacts | undefined;

const takesBack = (was: Known, is: Known): boolean =>
  was?.requested === true && is?.requested === false && is.boot === was.boot;

/** The version of a reboot that had not been asked for yet. */
function recordedAnew(was: Known, is: Known): string | undefined {
  const isKnown = was?.requested === true && was.boot === is?.boot;
  return is?.requested && !isKnown ? is.version : undefined;
}

/** An agent of a later boot has spoken since. */
function older(
  { hosts }: Picture,
  latest: Map<string, number>,
  { made: { uid, node }, is }: Report,
): readonly string[] {
  if (!is.record) return NOTHING;
  const boot = [...(hosts.get(node)?.boots ?? [])].indexOf(is.record.boot);
  const last = latest.get(uid) ?? -1;
  latest.set(uid, Math.max(boot, last));
  return boot >= 0 && boot < last ? [`the status of ${node} is that of an earlier boot again`] : NOTHING;
}

/** B1, M8: no record outlives what it was made for. B8: nobody says less than he knows, unless he was refused for two minutes. */
export const records: Rule = {
  name: 'records',
  begin(picture) {
    const refusals = new Map<string, Refusals>();
    return {
      see(entry) {
        if (entry.kind === 'request') noteRefusal(refusals, entry);
        const report = reportIn(picture, entry);
        return report && report.is.state !== report.was.state ? untidy(report, refusals) : NOTHING;
      },
    };
  },
};

/** For so long a status is refused before a shorter one is sent, milliseconds. */
const REFUSED_FOR = 110_000;
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/** A row of them, about the status of a shadow. */
interface Refusals {
  readonly since: Instant;
  readonly latest: Instant;
}

/** A row that was long enough once is not undone by an answer of another kind: what is sent stays short until it is taken. */
function noteRefusal(rows: Map<string, Refusals>, entry: RequestEntry & { readonly at: Instant }): void {
  const { name, code, at } = entry;
  if (name === undefined || !isReport(entry)) return;
  const row = rows.get(name);
  if (REFUSALS.has(code)) rows.set(name, { since: row?.since ?? at, latest: at });
  else if (code < 300 || (row && row.latest - row.since < REFUSED_FOR)) rows.delete(name);
}

const isReport = ({ by, resource, subresource }: RequestEntry): boolean =>
  resource === 'bottlerocketshadows' && subresource === 'status' && isApiserver(by);

const ENDS: ReadonlySet<string> = new Set(['Idle', 'ErrorReset', 'RebootedIntoUpdate']);

function untidy(
  { is, was, made: { name, node }, at }: Report,
  refusals: ReadonlyMap<string, Refusals>,
): readonly string[] {
  if (ENDS.has(is.state) && is.record && was.record)
    return [`${node} reports ${is.state}, and leaves the record of a reboot`];
  if (is.state !== 'ErrorReset' || is.reason !== undefined) return NOTHING;
  const since = refusals.get(name)?.since ?? at;
  return at - since >= REFUSED_FOR
    ? NOTHING
    : [`${node} does not say why it failed, and was refused since ${clock(since)}`];
}

/** B2, B4, B6: what is asked of a host fits what its shadow says. */
export const hostCalls: Rule = {
  name: 'host-calls',
  begin(picture) {
    // UIDs of Nodes that were ever wanted elsewhere than at rest.
    const wanted = new Set<string>();
    // By node, when somebody else has written its shadow last.
    const editedAt = new Map<string, Instant>();
    // By node, in which boot its host has last prepared an update: what is prepared goes with the boot.
    const preparedIn = new Map<string, string | undefined>();
    const seen = { wanted, editedAt, preparedIn };
    return {
      see(entry) {
        if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') noteWanted(entry, seen);
        if (entry.kind !== 'host' || !isPreparation(entry.event)) return NOTHING;
        const isOlder = picture.processes.has(`upstream-agent-${entry.node}`);
        const breaches = isOlder ? NOTHING : unfit(picture, entry.node, seen);
        preparedIn.set(entry.node, bootOf(picture, entry.node));
        return breaches;
      },
    };
  },
};

const isPreparation = (event: HostEntry['event']): boolean =>
  event.kind === 'call' && event.path === '/actions/prepare-update' && isTaken(event);

interface Seen {
  readonly wanted: Set<string>;
  readonly editedAt: Map<string, Instant>;
  readonly preparedIn: Map<string, string | undefined>;
}

function noteWanted({ after, by, at, name }: Write, { wanted, editedAt }: Pick<Seen, 'wanted' | 'editedAt'>): void {
  if (!isOperator(by)) editedAt.set(name.replace(/^brs-/, ''), at);
  const facts = after && shadowFacts(after);
  if (facts?.state !== 'Idle') for (const uid of facts?.owners ?? []) wanted.add(uid);
}

function unfit(picture: Picture, node: string, { wanted, editedAt, preparedIn }: Seen): readonly string[] {
  const facts = picture.nodes.get(node)?.facts;
  if (!facts) return NOTHING;
  if (!wanted.has(facts.uid))
    return [`the host of ${node} was asked to prepare an update, and its shadow has never wanted that`];
  const isPrepared = preparedIn.has(node) && preparedIn.get(node) === bootOf(picture, node);
  return editedAt.has(node) || isPrepared || isRecorded(picture, facts)
    ? NOTHING
    : [`the host of ${node} was asked to prepare its update again, and no record tells of its boot`];
}

/** Where that matters: in the step that reboots. */
function isRecorded(picture: Picture, facts: NodeFacts): boolean {
  const shadow = picture.shadowOf(facts);
  const boot = bootOf(picture, facts.name);
  return shadow?.state !== 'RebootedIntoUpdate' || !shadow.status || shadow.status.record?.boot === boot;
}

const bootOf = ({ hosts }: Picture, node: string): string | undefined => [...(hosts.get(node)?.boots ?? [])].at(-1);
