import { isDeepStrictEqual } from 'node:util';
import { HOUR_MS, rfc3339 } from '../../lib/clock.ts';
import { jitter } from '../../lib/random.ts';
import type { AgentStatus, FailingCheck, VersionWish, WishState } from '../../api/shadow/model.ts';
import type { Step, View } from '../decide.ts';
import { HostError, isDeadMount, UpdatesUnsupportedError } from '../hosts/errors.ts';
import { failingCheck, withOffer } from '../status.ts';
import { aheadOfUpdate } from './ahead.ts';
import type { StepContext } from './context.ts';
import { SettingsTelling } from './settings.ts';
import type { Staging } from './stage.ts';
import type { Wishes } from './wish.ts';

type Offer = Extract<Step, { readonly kind: 'offer' }>;

interface OfferContext extends StepContext {
  readonly staging: Staging;
  readonly wishes: Wishes;
}

/** The first look falls into this part of the interval: 3 seconds of two minutes, a delay that nobody notices. */
const FIRST_WITHIN = 1 / 40;

/** Where the shadow has lost it, as a new one has, it is said again that looks fail. A cluster may keep none, so not with each of them. */
const REPEATED_MS = HOUR_MS;

/** What a look for updates has come to. */
type Look = GoodLook | FailedLook;

interface GoodLook {
  readonly kind: 'looked';
  readonly version: string | undefined;
  /** What has become of what the shadow wishes; undefined where there is nothing to tell. */
  readonly wish: WishState | null | undefined;
}

interface FailedLook {
  readonly kind: 'failed';
  readonly error: string;
  /** What the host has offered before cannot be had any more. */
  readonly isOfferVoid: boolean;
}

/**
 * At rest: asks the host for updates at every interval, reports what it offers when that has changed, and prepares a version ahead where it is
 * named. The time of the next look outlives the step, which often ends for another one.
 */
export function offerWatch(context: OfferContext): (step: Offer, signal: AbortSignal) => Promise<never> {
  const { clock, random, staging, times, wishes } = context;
  const preparation = aheadOfUpdate(context, staging);
  const settings = new SettingsTelling(context);
  const tellFailure = failingChecks(context, settings);
  /** On the clock's monotonic scale; undefined before the first look. */
  let nextLook: number | undefined;
  let wished: VersionWish | undefined;
  return async ({ ahead, wish }, signal) => {
    // Nodes must not all look at the same moment, neither at first nor later: a fleet shares one update repository.
    const soon = clock.monotonic() + FIRST_WITHIN * random() * times.checkIntervalMs;
    nextLook = isDeepStrictEqual(wish, wished) ? (nextLook ?? soon) : Math.min(nextLook ?? soon, soon);
    wished = wish;
    const tellOffer = async ({ version, wish: told }: GoodLook): Promise<void> => {
      const offer = (view: View): AgentStatus => wishes.told(withOffer(view, version ?? view.version), told);
      await preparation.report((view) => settings.added(offer(view), view), signal);
      settings.noteTold();
      wishes.noteTold(told);
    };
    for (;;) {
      const preparesAt = ahead === undefined ? Infinity : preparation.dueAt(ahead);
      await clock.sleep(Math.max(0, Math.min(nextLook, preparesAt) - clock.monotonic()), signal);
      if (ahead !== undefined && preparesAt < nextLook) {
        await preparation.prepare(ahead, signal);
        continue;
      }
      const seen = await look(context, signal);
      nextLook = clock.monotonic() + jitter(times.checkIntervalMs, 0.1, random);
      await settings.look(signal);
      if (seen.kind === 'failed') await tellFailure(seen, signal);
      else await tellOffer(seen);
    }
  };
}

/** Puts on record that looks fail, once for as long as they do. */
function failingChecks(
  context: StepContext,
  settings: SettingsTelling,
): (look: FailedLook, signal: AbortSignal) => Promise<void> {
  const { apiserver, clock, offers, logger } = context;
  /** What is reported of looks that fail, for as long as none succeeds. */
  let failing: FailingCheck | undefined;
  let reportedAt = -Infinity;
  return async ({ error, isOfferVoid }, signal) => {
    const { succeededAt: succeeded_at = null } = offers;
    if (failing?.succeeded_at !== succeeded_at) {
      failing = { failing_since: rfc3339(clock.now()), succeeded_at, error };
      reportedAt = -Infinity;
    }
    const check = failing;
    if (clock.monotonic() - reportedAt < REPEATED_MS) return;
    // Where this agent has seen no success, what an earlier one on this node has said stands.
    const told = ({ shadow }: View): FailingCheck =>
      (succeeded_at === null ? shadow?.status?.check : undefined) ?? check;
    await apiserver.report((view) => {
      const status = { ...failingCheck(view, told(view)), ...(isOfferVoid && { target_version: view.version }) };
      return settings.added(status, view);
    }, signal);
    settings.noteTold();
    reportedAt = clock.monotonic();
    logger.warn('the host cannot look for updates', check);
  };
}

async function look(context: OfferContext, signal: AbortSignal): Promise<Look> {
  try {
    return { kind: 'looked', ...(await offered(context, signal)) };
  } catch (error) {
    if (!(error instanceof HostError) || isDeadMount(error)) throw error;
    context.logger.info('a look for updates has failed', { error });
    const isUnsupported = error instanceof UpdatesUnsupportedError;
    const said = isUnsupported ? 'this image has no updates in place' : error.message.replaceAll(/\s+/g, ' ');
    return { kind: 'failed', error: said, isOfferVoid: isUnsupported };
  }
}

async function offered(
  { hostWork, offers, wishes }: OfferContext,
  signal: AbortSignal,
): Promise<Pick<GoodLook, 'version' | 'wish'>> {
  const { status, wish } = await wishes.look(() => offers.refresh(signal), signal);
  const { state, chosen } = status;
  // The host could not be deactivated when its attempt ended. What is activated must not be booted by chance.
  if (state === 'Ready' || hostWork.owesDeactivation) await hostWork.tryToDeactivate(signal);
  return { version: chosen?.version, wish };
}
