import { useContext, useEffect, useState } from 'preact/hooks';
import { durationText } from '../../../lib/clock.ts';
import type { DrainRow, NodeRow, NodePast } from '../wire.ts';
import { pastOf } from './connection.ts';
import { Moments } from './lists.tsx';
import { Age, Commands, NamingContext, Swatch, Time } from './parts.tsx';
import { plural, timeText, versionText, wordOf } from './text.ts';

interface NodePanelProps {
  readonly row: NodeRow;
  /** How long nodes are away for a reboot. */
  readonly usualRebootMs: number | undefined;
  readonly now: number;
  readonly token: string;
  readonly close: () => void;
}

/** Details of the selected node: its verdict, its update, its drain and its past. */
export function NodePanel({ row, usualRebootMs: usually, now, token, close }: NodePanelProps) {
  const { shorten, commandOf } = useContext(NamingContext);
  return (
    <section class="panel selected" aria-labelledby="selected">
      <div class="head">
        <h2 id="selected">{shorten(row.name)}</h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          Close
        </button>
      </div>
      <p class="state">
        <Swatch row={row} />
        <strong>{wordOf(row)}</strong>
        {row.awaySince !== undefined && (
          <span>
            <Age of={row.awaySince} now={now} />
            {usually !== undefined && `, usually ${durationText(usually)}`}
          </span>
        )}
      </p>
      <p>
        {row.reason}: {row.message}
        {row.since !== undefined && (
          <>
            , <Age of={row.since} now={now} />
          </>
        )}
        {row.until !== undefined && ` (until ${timeText(row.until, now)})`}
      </p>
      {row.drain && <DrainState drain={row.drain} now={now} />}
      <Facts row={row} now={now} />
      <Commands commands={['why', 'timeline', 'hold'].map((word) => commandOf(`${word} ${row.name}`))} />
      <History row={row} now={now} token={token} />
    </section>
  );
}

function DrainState({
  drain: { podsLeft, blockedBy, startedAt, endsAt, silentSince },
  now,
}: {
  readonly drain: DrainRow;
  readonly now: number;
}) {
  return (
    <div class={blockedBy.length > 0 ? 'drain stuck' : 'drain'}>
      <p>
        <strong>
          {silentSince !== undefined && `not reported for ${durationText(now - silentSince)}`}
          {podsLeft !== undefined && `${plural(podsLeft, 'pod')} left`}
        </strong>
        {startedAt !== undefined && ` after ${durationText(now - startedAt)} of the drain`}
        {endsAt !== undefined && `, which tries until ${timeText(endsAt, now)}`}
      </p>
      {blockedBy.length > 0 && (
        <>
          <p>Held up by</p>
          <ul>
            {blockedBy.map((blocker) => (
              <li key={blocker}>{blocker}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Facts({ row, now }: Pick<NodePanelProps, 'row' | 'now'>) {
  const { runs, offered, meanwhile, policy, zone, family, failure, lastUpdateMs, finishedAt } = row;
  const times = failure && failure.times > 1 ? ` (${failure.times} in a row)` : '';
  const last = lastUpdateMs === undefined ? undefined : `took ${durationText(lastUpdateMs)}`;
  return (
    <dl class="facts">
      <Fact name="Node">{row.name}</Fact>
      <Fact name="Version">{versionText(runs, offered)}</Fact>
      <Fact name="Meanwhile">{meanwhile}</Fact>
      <Fact name="Policy">{policy ?? "the controller's variables"}</Fact>
      <Fact name="Zone">{zone}</Fact>
      <Fact name="Family">{family}</Fact>
      <Fact name="Last failure">{failure && `${failure.text}${times}`}</Fact>
      <Fact name="Last update">
        {last}
        {last !== undefined && finishedAt !== undefined && (
          <>
            , until <Time of={finishedAt} now={now} />
          </>
        )}
      </Fact>
    </dl>
  );
}

type FactProps = { readonly name: string; readonly children?: preact.ComponentChildren };

function Fact({ name, children }: FactProps) {
  if (children === undefined || children === '' || (Array.isArray(children) && children[0] === undefined)) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The node's past. It is loaded when the node is selected, and again when its row changes. */
function History({ row, now, token }: Pick<NodePanelProps, 'row' | 'now' | 'token'>) {
  const [past, setPast] = useState<{ readonly node: string; readonly told: NodePast | string }>();
  useEffect(() => {
    let isWanted = true;
    const keep = (told: NodePast | string): void => void (isWanted && setPast({ node: row.name, told }));
    pastOf(token, row.name).then(keep, (error: unknown) => keep(error instanceof Error ? error.message : 'no answer'));
    return () => void (isWanted = false);
  }, [row, token]);
  const told = past?.node === row.name ? past.told : undefined;
  return (
    <>
      <h3>What happened</h3>
      {told === undefined && <p class="empty">Asking the cluster.</p>}
      {typeof told === 'string' && <p class="note">{told}</p>}
      {typeof told === 'object' &&
        told.notKnown.map((sentence) => <p key={sentence} class="note">{`Not known: ${sentence}`}</p>)}
      {typeof told === 'object' && <Moments moments={told.moments} now={now} about={row.name} />}
    </>
  );
}
