import { createHash } from 'node:crypto';
import { rfc3339 } from '../../lib/clock.ts';
import { shortened } from '../../lib/parts.ts';
import { type Fact, KINDS } from '../../notifications/fact.ts';
import type { Statement, Statements } from '../diff.ts';
import type { Silenced, SilencedNodes } from './silences.ts';

/** What was last told of one topic, and how often that has changed: a rollout may halt twice. */
type Told = readonly [value: string, times: number];

/** What outlives a process. */
export interface Memory {
  /** Undefined in a cluster where nothing was remembered yet. What stands then is no news, but a rollout that is under way. */
  readonly told: ReadonlyMap<string, Told> | undefined;
  /** What was not told yet, by target, in order. */
  readonly waiting: ReadonlyMap<string, readonly Fact[]>;
  /** Silences that stand, by Alertmanager. */
  readonly silences: ReadonlyMap<string, SilencedNodes>;
}

export const NOTHING: Memory = { told: undefined, waiting: new Map(), silences: new Map() };

/** Topics that are remembered. One that no plan speaks of any more makes room first. It keeps the ConfigMap well below 1 MiB. */
const REMEMBERED = 4000;
/** Facts that are remembered for all targets together. */
const FACTS = 200;
/** Bytes, as of an Event. */
const LONGEST_MESSAGE = 1024;

/** What there is to tell, and what is to be remembered then. */
export interface News {
  readonly facts: readonly Fact[];
  readonly told: ReadonlyMap<string, Told>;
}

interface Moment {
  /** Of the memory: the same fact of another cluster has another id. */
  readonly uid: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** What is new of all that holds. What a topic says no more is remembered too, so that a fact which comes back is not told twice. */
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
  readonly kept: ReadonlyMap<string, Told>;
}

function isNews(topic: string, { event, follows }: Statement, { told, kept }: Remembered): boolean {
  if (!told) return event.reason === 'RolloutStarted';
  return follows === undefined || (follows === topic ? told : kept).has(follows);
}

/** They come and go with the plan, and nobody is notified of them. */
const UNTOLD: ReadonlySet<Statement['kind']> = new Set(['window', 'warning']);

/** @param name of the fact, in full. @returns undefined where nobody is notified of such things */
function factOf({ event, about }: Statement, name: string, now: number): Fact | undefined {
  const kind = KINDS.find((one) => one === event.reason);
  if (!kind) return undefined;
  const id = createHash('sha256').update(name).digest('hex').slice(0, 32);
  const severity = event.type === 'Warning' ? 'warning' : 'info';
  return { id, kind, severity, time: rfc3339(now), message: shortened(event.message, LONGEST_MESSAGE), ...about };
}

function bounded(told: ReadonlyMap<string, Told>, statements: Statements): ReadonlyMap<string, Told> {
  if (told.size <= REMEMBERED) return told;
  const entries = [...told];
  const current = entries.filter(([topic]) => statements.has(topic)).slice(0, REMEMBERED);
  const others = entries.filter(([topic]) => !statements.has(topic));
  const room = REMEMBERED - current.length;
  return new Map([...(room > 0 ? others.slice(-room) : []), ...current]);
}

interface Stored {
  readonly told?: Readonly<Record<string, Told>>;
  readonly facts: readonly Fact[];
  /** Ids, by target. */
  readonly waiting: Readonly<Record<string, readonly string[]>>;
  readonly silences?: Readonly<Record<string, Readonly<Record<string, Silenced>>>>;
}

/** A fact that waits for several targets is written once. */
export function written({ told, waiting, silences }: Memory): string {
  const all = new Map([...waiting.values()].flat().map((fact) => [fact.id, fact]));
  const newest = [...all.values()].toSorted((a, b) => (a.time < b.time ? 1 : -1)).slice(0, FACTS);
  const facts = new Map(newest.map((fact) => [fact.id, fact]));
  const ids = [...waiting].map(([target, list]) => [target, list.flatMap(({ id }) => (facts.has(id) ? id : []))]);
  const stored: Stored = {
    ...(told && { told: Object.fromEntries(told) }),
    facts: [...facts.values()],
    waiting: Object.fromEntries(ids) as Stored['waiting'],
    silences: Object.fromEntries([...silences].map(([name, made]) => [name, Object.fromEntries(made)])),
  };
  return JSON.stringify(stored);
}

/** What cannot be read was written by nobody of ours: then nothing is remembered. */
export function read(text: string | undefined): Memory {
  try {
    const { told, facts, waiting, silences = {} } = JSON.parse(text ?? '') as Stored;
    const byId = new Map(facts.map((fact) => [fact.id, fact]));
    const lists = Object.entries(waiting).map(
      ([target, ids]) => [target, ids.flatMap((id) => byId.get(id) ?? [])] as const,
    );
    const made = Object.entries(silences).map(([name, nodes]) => [name, new Map(Object.entries(nodes))] as const);
    return { told: told && new Map(Object.entries(told)), waiting: new Map(lists), silences: new Map(made) };
  } catch {
    return NOTHING;
  }
}
