import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { App } from './app.tsx';
import { listen, tokenOf } from './connection.ts';
import { NOTHING, type State, told } from './state.ts';

/** The clock of ages and of what is left goes so often, milliseconds. */
const TICK_MS = 1000;

function Dashboard({ token }: { readonly token: string }) {
  const [state, setState] = useState<State>(NOTHING);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    void listen(token, {
      message: (message) => setState((before) => told(before, message)),
      link: (link) => setState((before) => ({ ...before, link })),
    });
    const ticking = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(ticking);
  }, [token]);
  return <App state={state} now={now} token={token} />;
}

// Another address in the same tab, of a program that was started again, loads nothing by itself.
window.addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload());

const root = document.querySelector('#app');
if (root) render(<Dashboard token={await tokenOf(window)} />, root);
