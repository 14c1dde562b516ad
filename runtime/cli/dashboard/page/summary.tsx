import type { ComponentChildren } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { durationText } from '../../../lib/clock.ts';
import type { FleetCard, Trouble } from '../wire.ts';
import { Age, Commands, Names, NamingContext } from './parts.tsx';
import type { State } from './state.ts';
import { countText, exactText, plural, roughText, timeText } from './text.ts';

/** Older data is marked as old, milliseconds. The program reads the cluster at least every 15 s, and a read takes some seconds. */
const OLD_MS = 30_000;

interface HeaderProps {
  readonly state: State;
  readonly now: number;
}

export function Header({ state, now }: HeaderProps) {
  const cluster = state.sections?.fleet.cluster;
  return (
    <header class="top">
      <img src="/icon.svg" alt="" width="28" height="28" />
      <h1>
        Bottlerocket updates
        {cluster !== undefined && <span class="cluster">{cluster}</span>}
      </h1>
      <LinkState state={state} now={now} />
      <ThemeButton />
    </header>
  );
}

/** The state of the connection, and the age of the data if it is old. */
function LinkState({ state: { link, at, trouble }, now }: HeaderProps) {
  const age = at === 0 ? '' : `as of ${exactText(at)}`;
  const [kind, text] = linkText(link, { trouble, isOld: at > 0 && now - at > OLD_MS });
  return (
    <div class={`link ${kind}`}>
      <p role="status">
        <span class="dot" aria-hidden="true" />
        {text}
      </p>
      {age !== '' && (
        <p class="age">
          {age}
          {kind !== 'live' && `, ${durationText(now - at)} ago`}
        </p>
      )}
    </div>
  );
}

function linkText(link: State['link'], { trouble, isOld }: { trouble: string | undefined; isOld: boolean }) {
  if (link === 'refused') return ['bad', 'Another token is needed'] as const;
  if (link === 'lost') return ['bad', 'kubectl brupop dashboard does not answer; trying again'] as const;
  if (link === 'connecting') return ['late', 'Connecting'] as const;
  if (trouble !== undefined) return ['bad', trouble] as const;
  return isOld ? (['late', 'The cluster takes long to answer'] as const) : (['live', 'Live'] as const);
}

const THEMES = ['system', 'light', 'dark'] as const;

function ThemeButton() {
  const [index, setIndex] = useState(0);
  const next = (): void => {
    const following = (index + 1) % THEMES.length;
    document.documentElement.dataset['theme'] = THEMES[following];
    setIndex(following);
  };
  return (
    <button type="button" class="quiet" onClick={next}>
      Theme: {THEMES[index]}
    </button>
  );
}

interface FleetProps {
  readonly fleet: FleetCard;
  readonly now: number;
}

/** What waits for a person. */
export function Troubles({ fleet: { needsYou, paused, pausedBy, notKnown, decided }, now }: FleetProps) {
  const { commandOf } = useContext(NamingContext);
  if (needsYou.length === 0 && !paused && notKnown.length === 0 && decided.length === 0) return null;
  return (
    <section class="troubles" aria-label="What needs you">
      {needsYou.map((trouble) => (
        <TroubleCard key={`${trouble.title} ${trouble.text}`} trouble={trouble} now={now} />
      ))}
      {paused && (
        <div class="note">
          <strong>Paused{pausedBy}.</strong> No update starts. This ends that:
          <Commands commands={[commandOf('resume')]} />
        </div>
      )}
      {decided.map((sentence) => (
        <p key={sentence} class="note">
          <strong>Decided:</strong> {sentence}
        </p>
      ))}
      {notKnown.map((sentence) => (
        <p key={sentence} class="note">
          <strong>Not known:</strong> {sentence}
        </p>
      ))}
    </section>
  );
}

interface TroubleProps {
  readonly trouble: Trouble;
  readonly now: number;
}

function TroubleCard({ trouble: { title, text, remedy, commands = [], nodes, count, since }, now }: TroubleProps) {
  return (
    <div class="trouble">
      <p>
        <strong>{title}</strong> {text}
        {since !== undefined && (
          <>
            {' '}
            <Age of={since} now={now} />
          </>
        )}
      </p>
      {remedy !== undefined && <p class="remedy">{remedy}</p>}
      <Commands commands={commands} />
      <Names names={nodes} count={count} />
    </div>
  );
}

export function Summary({ fleet, now }: FleetProps) {
  const { counts, budget, pace } = fleet;
  const share = counts.nodes === 0 ? 0 : Math.floor((counts.upToDate / counts.nodes) * 100);
  return (
    <section class="summary" aria-label="Summary">
      <Stat name="Up to date" value={`${share} %`}>
        {countText(counts.upToDate)} of {plural(counts.nodes, 'node')}
      </Stat>
      <Stat name="To go" value={pace.endsAt === undefined ? leftText(pace) : `about ${roughText(pace.endsAt - now)}`}>
        {pace.endsAt !== undefined && `until ${timeText(pace.endsAt, now)}; `}
        {plural(pace.left, 'node')} left{pace.stuck > 0 && `, ${countText(pace.stuck)} not by themselves`}
        {pace.stuck > 0 && pace.waitsFor.length > 0 && `: waits for ${pace.waitsFor.join(', ')}`}
        {toComeText(pace)}
      </Stat>
      <Stat name="Pace" value={`${countText(pace.finishedLastHour)} in the last hour`}>
        {pace.typicalMs === undefined
          ? 'no update is known to be complete'
          : `one takes ${durationText(pace.typicalMs)}`}
      </Stat>
      <Stat name="Permits" value={budgetText(budget)}>
        <Names names={budget.holders.map(({ node }) => node)} count={budget.taken} why={whyOf(budget.holders, now)} />
        {budget.taken === 0 && 'none is taken'}
      </Stat>
    </section>
  );
}

const leftText = ({ left, stuck }: FleetCard['pace']): string => (left + stuck === 0 ? 'all done' : 'not by itself');

const toComeText = ({ toCome }: FleetCard['pace']): string =>
  toCome === 0 ? '' : `; ${toCome === 1 ? '1 waits for its wave' : `${countText(toCome)} wait for their waves`}`;

function budgetText({ capacity, taken }: FleetCard['budget']): string {
  return `${countText(taken)} ${capacity === undefined ? 'taken, no limit' : `of ${countText(capacity)} taken`}`;
}

/** By name of the node: why it takes a part of the budget. */
function whyOf(holders: FleetCard['budget']['holders'], now: number): ReadonlyMap<string, string> {
  const said = holders.flatMap(({ node, why, until }) => {
    if (why === undefined) return [];
    return [[node, until === undefined ? why : `${why}, for ${durationText(until - now)} more`] as const];
  });
  return new Map(said);
}

interface StatProps {
  readonly name: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

function Stat({ name, value, children }: StatProps) {
  return (
    <div class="stat">
      <h2>{name}</h2>
      <p class="value">{value}</p>
      <div class="more">{children}</div>
    </div>
  );
}
