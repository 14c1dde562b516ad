import type { Clock } from '../../../lib/clock.ts';
import type { Silencer } from '../../../api/notifications/config.ts';
import { silencerFolder } from '../../../api/notifications/names.ts';
import { silenceBody, silenceIdIn } from '../../../api/notifications/silence.ts';
import { exchange, type Outgoing, type Reply } from './exchange.ts';
import { readDestination, SecretError } from './folder.ts';
import { failureOf, outcomeOf } from './outcome.ts';
import type { SilenceOutcome } from './silences.ts';

interface Access {
  /** Folder with the Secrets. */
  readonly dir: string;
  readonly silencer: Silencer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Creates a silence for a node's alerts. Tries once, and never rejects. */
export function createSilence(node: string, access: Access): Promise<SilenceOutcome> {
  const { matchers, durationInSec } = access.silencer;
  const body = silenceBody({ node, matchers, durationMs: durationInSec * 1000 }, access.clock.now());
  return asked({ method: 'POST', path: 'api/v2/silences', body }, access, ({ body: answer }) => {
    const id = silenceIdIn(answer);
    // A silence without an id cannot be ended, so it ends by itself.
    return id === undefined ? { kind: 'refused', why: 'its answer names no silence' } : { kind: 'done', id };
  });
}

/** Ends a silence. One that is gone counts as ended. Tries once, and never rejects. */
export function expireSilence(id: string, access: Access): Promise<SilenceOutcome> {
  return asked({ method: 'DELETE', path: `api/v2/silence/${id}`, body: '' }, access, () => ({ kind: 'done' }));
}

async function asked(
  { method, path, body }: Pick<Outgoing, 'method' | 'body'> & { readonly path: string },
  { dir, silencer, clock, signal }: Access,
  done: (reply: Reply) => SilenceOutcome,
): Promise<SilenceOutcome> {
  try {
    const { url, headers, proxy } = await readDestination(dir, silencerFolder(silencer.name));
    const to = new URL(url);
    to.pathname = `${to.pathname.replace(/\/+$/, '')}/${path}`;
    const described = body === '' ? headers : { 'content-type': 'application/json', ...headers };
    const outgoing = { method, url: to, headers: described, body, proxy: proxy ?? silencer.proxy, ca: silencer.ca };
    const reply = await exchange(outgoing, { clock, signal });
    const outcome = outcomeOf(reply, clock.now());
    if (outcome.kind === 'accepted' || (method === 'DELETE' && reply.status === 404)) return done(reply);
    return { kind: outcome.kind, why: outcome.why };
  } catch (error) {
    return { kind: 'later', why: error instanceof SecretError ? error.message : failureOf(error).why };
  }
}
