import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { App } from './app.tsx';
import { listen, tokenOf } from './connection.ts';
import { NOTHING, type State, applied } from './state.ts';

/** How often ages and remaining times are drawn again, milliseconds. */
const TICK_MS = 1000;

function Dashboard({ token }: { readonly token: string }) {
  const [state, setState] = useState<State>(NOTHING);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    void listen(token, {
      message: (message) => setState((before) => applied(before, message)),
      link: (link) => setState((before) => ({ ...before, link })),
    });
    const ticking = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(ticking);
  }, [token]);
  return <App state={state} now={now} token={token} />;
}

// The user pastes the address of a newly started program into the same tab. Only the fragment differs, so the browser would not load the page.
window.addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload());

const root = document.querySelector('#app');
if (root) render(<Dashboard token={await tokenOf(window)} />, root);
