import type { Clock } from '../../../lib/clock.ts';
import type { NotificationTarget } from '../../../api/notifications/config.ts';
import type { Fact } from '../../../api/notifications/fact.ts';
import { contentOf } from '../../../api/notifications/formats.ts';
import { exchange } from './exchange.ts';
import { readDestination, SecretError } from './folder.ts';
import { failureOf, type DeliveryOutcome, outcomeOf } from './outcome.ts';

/** Where a fact goes. */
export interface Address {
  /** Folder with the Secrets. */
  readonly dir: string;
  readonly cluster: string;
  readonly target: NotificationTarget;
}

/** Tries once. Never rejects. */
export async function delivered(
  fact: Fact,
  { dir, cluster, target }: Address,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<DeliveryOutcome> {
  try {
    const { url, headers, proxy, token } = await readDestination(dir, target.name);
    const { contentType, body } = contentOf(fact, { ...target, cluster, token });
    const outgoing = { method: 'POST', url, headers: { 'content-type': contentType, ...headers }, body } as const;
    const reply = await exchange({ ...outgoing, proxy: proxy ?? target.proxy, ca: target.ca }, { clock, signal });
    return outcomeOf(reply, clock.now());
  } catch (error) {
    return error instanceof SecretError ? { kind: 'later', why: error.message, afterMs: 0 } : failureOf(error);
  }
}
