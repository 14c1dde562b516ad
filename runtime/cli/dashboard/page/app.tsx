import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Sections } from '../wire.ts';
import { Curves } from './curves.tsx';
import { EventList, QueueList } from './lists.tsx';
import { NodePanel } from './node.tsx';
import { Nodes } from './nodes.tsx';
import { NamingContext, shortenerFor } from './parts.tsx';
import { PolicyCards } from './policies.tsx';
import type { State } from './state.ts';
import { Header, Summary, Troubles } from './summary.tsx';
import { plural } from './text.ts';
import { Timeline } from './timeline.tsx';

interface AppProps {
  readonly state: State;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly token: string;
}

export function App({ state, now, token }: AppProps) {
  const [selected, select] = useState<string>();
  const toggle = useCallback((name: string) => select((before) => (before === name ? undefined : name)), []);
  const leave = useCallback(() => {
    const isInside = document.activeElement?.closest('.selected');
    const tile = document.querySelector<HTMLElement>('.tile[aria-pressed="true"]');
    select(undefined);
    // The panel with the focus disappears. Without this, the keyboard would start at the top of the page.
    if (isInside) tile?.focus();
  }, []);
  useKeys({ escape: leave });
  const { sections } = state;
  return (
    <>
      <a class="skip" href="#nodes">
        Skip to the nodes
      </a>
      <Header state={state} now={now} />
      <main>
        {sections ? (
          <Fleet {...{ state, sections, now, token, selected, leave }} select={toggle} />
        ) : (
          <p class="empty">{state.link === 'refused' ? REFUSED : 'Waiting for the first look at the cluster.'}</p>
        )}
      </main>
    </>
  );
}

const REFUSED =
  'This page does not have the token of the dashboard that runs now. Open the address that kubectl brupop dashboard has printed.';

interface FleetProps extends AppProps {
  readonly sections: Sections;
  readonly selected: string | undefined;
  readonly select: (name: string) => void;
  readonly leave: () => void;
}

function Fleet({ state, sections, now, token, selected, select, leave }: FleetProps) {
  const { fleet, policies, curves, queue, timeline, events } = sections;
  const row = selected === undefined ? undefined : state.nodes.get(selected);
  const naming = useMemo(() => {
    const commandOf = (words: string): string => ['kubectl brupop', words, fleet.flags].filter(Boolean).join(' ');
    return { select, shorten: shortenerFor([...state.nodes.keys()]), commandOf };
  }, [state.nodes.size, fleet.flags]);
  return (
    <NamingContext.Provider value={naming}>
      <p class="hidden" role="status">
        {fleet.needsYou.length === 0 ? '' : `${plural(fleet.needsYou.length, 'matter')} for you`}
      </p>
      <Troubles fleet={fleet} now={now} />
      <Summary fleet={fleet} now={now} />
      <div class="columns">
        <div class="wide">
          <Nodes nodes={state.nodes} selected={selected} select={select} />
          <Timeline timeline={timeline} now={now} />
          <Curves curves={curves} now={now} />
          <PolicyCards policies={policies} now={now} />
        </div>
        <div class="narrow">
          {row && (
            <NodePanel row={row} usualRebootMs={fleet.pace.typicalRebootMs} now={now} token={token} close={leave} />
          )}
          <QueueList queue={queue} now={now} />
          <EventList title="Events" events={events} now={now} />
        </div>
      </div>
    </NamingContext.Provider>
  );
}

/** `/` focuses the filter, as on many pages. Escape closes the node's panel. */
function useKeys({ escape }: { readonly escape: () => void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement;
      if (event.key === 'Escape') escape();
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      document.querySelector<HTMLInputElement>('#filter')?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
