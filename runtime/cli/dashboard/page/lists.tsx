import { useContext } from 'preact/hooks';
import type { Queue, EventRow } from '../wire.ts';
import { NamingContext, NodeName, Names, Time } from './parts.tsx';
import { plural, timeText, versionText } from './text.ts';

/** The next starts, and what the other nodes wait for. */
export function QueueList({ queue: { next, waiting }, now }: { readonly queue: Queue; readonly now: number }) {
  return (
    <section class="panel" aria-labelledby="queue">
      <div class="head">
        <h2 id="queue">Queue</h2>
      </div>
      {next.length === 0 && waiting.length === 0 && <p class="empty">Nobody waits.</p>}
      {next.length > 0 && (
        <ol class="turns" aria-label="Who comes next">
          {next.map(({ node, runs, version, policy, at }) => (
            <li key={node}>
              <NodeName name={node} />
              <span class="faint">{[versionText(runs, version), policy].filter(Boolean).join(', ')}</span>
              {at !== undefined && <span class="when">{at <= now ? 'now' : timeText(at, now)}</span>}
            </li>
          ))}
        </ol>
      )}
      {waiting.map(({ title, text, nodes, count, until }) => (
        <div key={`${title} ${text}`} class="kept">
          <p>
            <strong>{plural(count, 'node')}</strong>: {text}
            {until !== undefined && `, until ${timeText(until, now)}`}
          </p>
          <Names names={nodes} count={count} />
        </div>
      ))}
    </section>
  );
}

interface EventListProps {
  readonly title: string;
  readonly events: readonly EventRow[];
  readonly now: number;
}

export function EventList({ title, events, now }: EventListProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
      </div>
      {events.length === 0 ? <p class="empty">None are known.</p> : <Moments moments={events} now={now} />}
    </section>
  );
}

interface MomentsProps {
  readonly moments: readonly EventRow[];
  readonly now: number;
  /** Name of the object that all moments concern; its name is then not repeated. */
  readonly about?: string;
}

/** Moments, the newest first. The list scrolls, so Tab reaches it and keys can scroll it. */
export function Moments({ moments, now, about }: MomentsProps) {
  const { shorten } = useContext(NamingContext);
  return (
    <ol class="events" tabIndex={0} aria-label="What happened, the newest first">
      {moments.map(({ at, object, type, reason, message, times }, index) => (
        <li key={`${at} ${object} ${reason} ${index}`} class={type === 'Warning' ? 'bad' : ''}>
          <p>
            <Time of={at} now={now} /> <strong>{type === 'Warning' ? `! ${reason}` : reason}</strong>{' '}
            <span class="faint">{nameIn(object) === about ? '' : shorten(nameIn(object))}</span>
          </p>
          <p>
            {message}
            {times !== undefined && <span class="faint"> ({times} times)</span>}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The name of an object without its kind, which is long. */
const nameIn = (object: string): string => object.replace(/^Bottlerocket(Shadow brs-|UpdatePolicy )|^Node /, '');
