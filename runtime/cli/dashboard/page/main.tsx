import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { App } from './app.tsx';
import { listen, tokenOf } from './connection.ts';
import { NOTHING, type State, applied } from './state.ts';

/** How often ages and remaining times are drawn again, milliseconds. */
const TICK_MS = 1000;

function Dashboard({ token }: { readonly token: string }) {
  const [state, setState] = useState<State>(NOTHING);
  const [now, setNow] = useState(Date.now());
  // Times are by the clock of the program, as in its commands. The clock of the browser may be minutes off.
  const ahead = useRef(0);
  useEffect(() => {
    const tick = (): void => setNow(Date.now() + ahead.current);
    void listen(token, {
      message: (message) => {
        ahead.current = message.now - Date.now();
        tick();
        setState((before) => applied(before, message));
      },
      link: (link) => setState((before) => ({ ...before, link })),
    });
    const ticking = setInterval(tick, TICK_MS);
    return () => clearInterval(ticking);
  }, [token]);
  return <App state={state} now={now} token={token} />;
}

// The user pastes the address of a newly started program into the same tab. Only the fragment differs, so the browser would not load the page.
window.addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload());

const root = document.querySelector('#app');
if (root) render(<Dashboard token={await tokenOf(window)} />, root);
