import { createHash } from 'node:crypto';
import { rfc3339 } from '../../../lib/clock.ts';
import { shortened } from '../../../lib/parts.ts';
import { type Fact, KINDS, LONGEST_MESSAGE } from '../../../api/notifications/fact.ts';
import type { Statement, Statements } from '../statements.ts';
import type { SilencedNodes } from './silences.ts';

/** What was last told of one topic, and how often that has changed: a rollout may halt twice. */
type ToldValue = readonly [value: string, times: number];

/** What outlives a process. */
export interface Memory {
  /** Undefined where nothing was remembered yet. People are told then of rollouts that are under way, and of nothing else that holds already. */
  readonly told: ReadonlyMap<string, ToldValue> | undefined;
  /** What was not told yet, by target, in order. */
  readonly waiting: ReadonlyMap<string, readonly Fact[]>;
  /** Silences that were made and have not ended, by Alertmanager. */
  readonly silences: ReadonlyMap<string, SilencedNodes>;
}

export const NOTHING: Memory = { told: undefined, waiting: new Map(), silences: new Map() };

/** Characters of all that is remembered as told: some thousand topics. It keeps the ConfigMap below 1 MiB. */
const REMEMBERED = 360_000;

/** What there is to tell, and what has to be remembered then. */
interface News {
  readonly facts: readonly Fact[];
  readonly told: ReadonlyMap<string, ToldValue>;
}

interface Moment {
  /** UID of the memory's ConfigMap, so that the same fact of another cluster has another id. */
  readonly uid: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The news among all statements that hold. Topics that hold no more are remembered too, so that a fact that comes back is not told twice. */
export function newsIn(statements: Statements, told: Memory['told'], moment: Moment): News {
  const changed = [...statements].filter(
    ([topic, statement]) => !UNTOLD.has(statement.kind) && told?.get(topic)?.[0] !== valueOf(statement),
  );
  if (told && changed.length === 0) return { facts: [], told };
  const after = new Map(told);
  for (const [topic, statement] of changed) {
    const [, times = 0] = told?.get(topic) ?? [];
    // The newest is last.
    after.delete(topic);
    after.set(topic, [valueOf(statement), times + 1]);
  }
  const kept = bounded(after, statements);
  // Topics that do not fit into the memory look new in each plan. They are not told.
  if (told && !changed.some(([topic]) => kept.has(topic))) return { facts: [], told };
  const news = changed.filter(([topic, one]) => kept.has(topic) && isNews(topic, one, { told, kept }));
  const facts = news.flatMap(([topic, statement]) => {
    const id = [moment.uid, topic, ...(kept.get(topic) ?? [])].join('\n');
    return factOf(statement, id, moment.now) ?? [];
  });
  return { facts, told: kept };
}

const valueOf = ({ event, value }: Statement): string => event.occasion ?? value;

interface Remembered {
  readonly told: Memory['told'];
  /** With what is told now. */
  readonly kept: ReadonlyMap<string, ToldValue>;
}

function isNews(topic: string, { event, follows }: Statement, { told, kept }: Remembered): boolean {
  if (!told) return event.reason === 'RolloutStarted';
  return follows === undefined || (follows === topic ? told : kept).has(follows);
}

/** Kinds that are never notified of: they come and go with the plans. */
const UNTOLD: ReadonlySet<Statement['kind']> = new Set(['window', 'warning']);

/** @param name of the fact, in full. @returns undefined for what is never notified of */
function factOf({ event, about }: Statement, name: string, now: number): Fact | undefined {
  const kind = KINDS.find((one) => one === event.reason);
  if (!kind) return undefined;
  const id = createHash('sha256').update(name).digest('hex').slice(0, 32);
  const severity = event.type === 'Warning' ? 'warning' : 'info';
  return { id, kind, severity, time: rfc3339(now), message: shortened(event.message, LONGEST_MESSAGE), ...about };
}

/** Room goes first to what holds of the fleet and of policies, then to what holds of nodes, then to what held last. */
function bounded(told: ReadonlyMap<string, ToldValue>, statements: Statements): ReadonlyMap<string, ToldValue> {
  const entries = [...told];
  const ranks = [
    entries.filter(([topic]) => statements.has(topic) && !isOfNode(statements.get(topic))),
    entries.filter(([topic]) => isOfNode(statements.get(topic))),
    entries.filter(([topic]) => !statements.has(topic)).toReversed(),
  ];
  let room = REMEMBERED;
  const kept = new Set<string>();
  for (const [topic, [value]] of ranks.flat()) {
    room -= topic.length + value.length + PUNCTUATION;
    if (room < 0) break;
    kept.add(topic);
  }
  return kept.size === entries.length ? told : new Map(entries.filter(([topic]) => kept.has(topic)));
}

/** Characters around one topic in JSON. */
const PUNCTUATION = 16;

const isOfNode = (statement: Statement | undefined): boolean => statement?.about?.node !== undefined;
