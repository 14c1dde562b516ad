import type { Message, NodePast } from '../wire.ts';
import type { Link } from './state.ts';

/** Pauses before the next attempts to connect, milliseconds. The last one repeats. */
const PAUSES_MS = [500, 1000, 2000, 4000];

interface Heard {
  message(message: Message): void;
  link(link: Link): void;
}

/**
 * The token, or a ticket to get it, follows # in the address. It is removed from there and kept in the tab's session storage, so that it
 * survives a reload. The result is empty where the ticket was used already.
 */
export async function tokenOf({ location, history, sessionStorage }: Window): Promise<string> {
  const given = new URLSearchParams(location.hash.slice(1));
  const [ticket, token] = [given.get('ticket'), given.get('token')];
  if (ticket === null && token === null) return sessionStorage.getItem('token') ?? '';
  history.replaceState(null, '', location.pathname);
  const known = token ?? (await tokenFor(ticket ?? ''));
  sessionStorage.setItem('token', known);
  return known;
}

async function tokenFor(ticket: string): Promise<string> {
  const response = await fetch('/api/token', asked(ticket)).catch(() => undefined);
  return response?.ok ? response.text() : '';
}

const asked = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

/**
 * Listens while the tab is visible, and connects again when the connection ends. A browser opens at most six connections to one server for all
 * of its tabs, so hidden tabs give theirs up.
 */
export async function listen(token: string, heard: Heard): Promise<void> {
  let connection = new AbortController();
  document.addEventListener('visibilitychange', () => document.hidden && connection.abort());
  for (let failures = 0; ; failures++) {
    await untilSeen();
    connection = new AbortController();
    const outcome = await listenOnce({ token, signal: connection.signal }, heard);
    if (outcome === 'refused') return heard.link('refused');
    if (outcome === 'ended') failures = 0;
    if (connection.signal.aborted) {
      heard.link('connecting');
      continue;
    }
    heard.link('lost');
    const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function untilSeen(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

interface Connection {
  readonly token: string;
  readonly signal: AbortSignal;
}

async function listenOnce({ token, signal }: Connection, heard: Heard): Promise<'refused' | 'ended' | 'failed'> {
  let hasBegun = false;
  try {
    const response = await fetch('/api/stream', { ...asked(token), signal });
    if (response.status === 401 || response.status === 403) return 'refused';
    if (!response.ok || !response.body) return 'failed';
    for await (const message of messagesIn(response.body)) {
      hasBegun = true;
      heard.message(message);
    }
  } catch {
    // A failure gives no detail that could be shown.
  }
  return hasBegun ? 'ended' : 'failed';
}

/**
 * Server-sent events, each of one line of data. EventSource cannot send the token in a header. In the address or in a cookie, others could see it.
 */
async function* messagesIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Message> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  // Safari cannot iterate over a stream.
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += read.value;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) if (event.startsWith('data: ')) yield JSON.parse(event.slice(6)) as Message;
  }
}

/** The past of a node. @throws Error with the server's message */
export async function pastOf(token: string, node: string): Promise<NodePast> {
  const response = await fetch(`/api/nodes/${encodeURIComponent(node)}`, asked(token));
  if (!response.ok) throw new Error((await response.text()).trim());
  return (await response.json()) as NodePast;
}
