import { isStagedAhead } from '../decide.ts';
import { failStepAs, StepFailedError } from '../failure.ts';
import {
  HostRefusedError,
  NoMigrationsError,
  OfferChangedError,
  OtherImageError,
  UpdateGoneError,
} from '../hosts/errors.ts';
import type { HostStatus } from '../hosts/port.ts';
import { nothingStaged, withOffer } from '../status.ts';
import type { StepContext } from './context.ts';
import type { Wishes } from './wish.ts';

/** How long the controller has to follow a host that offers another version now. */
const FOLLOW_MS = 120_000;
/** The host refuses to prepare a version that it chose before a failed refresh, which leaves it in another state. */
const CHOOSES: ReadonlySet<HostStatus['state'] | undefined> = new Set(['Available', 'Staged']);

/** What is on record goes before anything is written over it: an agent that is killed meanwhile would believe it. */
export async function forgetStaged({ apiserver, view }: StepContext, signal: AbortSignal): Promise<void> {
  if (view.value.shadow?.status?.staged?.version != null) await apiserver.report(nothingStaged, signal);
}

export function targetChanged(wanted: string, offered: string | undefined): StepFailedError {
  return new StepFailedError('TargetChanged', `${wanted} is wanted, but the host offers ${offered ?? 'no update'}`);
}

/** Whether `version` is in the inactive partition, activated or not, as the host says. */
export function hasStaged(status: HostStatus | undefined, version: string): boolean {
  return (status?.state === 'Staged' || status?.state === 'Ready') && status.staging?.image.version === version;
}

/** Brings the wanted version into the host's inactive partition. */
export class Staging {
  readonly #context: StepContext;
  readonly #wishes: Wishes;
  /** The version that this agent has seen written into the partition, without a failure since. The host forgets what its commands said. */
  #written: string | undefined;
  /** What an earlier life of the agent has put on record is believed until this one has seen anything go wrong. */
  #isRecordGood = true;

  constructor(context: StepContext, wishes: Wishes) {
    this.#context = context;
    this.#wishes = wishes;
  }

  /** What is in the partition has failed, or somebody has replaced it. */
  forget(): void {
    this.#written = undefined;
    this.#isRecordGood = false;
  }

  /**
   * Whether it is known that `version` is in the partition: this agent has seen it written, or has it on record of this boot, or the host's last
   * command was the one that wrote it. After another command the status may name a version that was never there, so what the last one says is
   * remembered.
   */
  isProven(status: HostStatus | undefined, version: string): boolean {
    if (!hasStaged(status, version)) return false;
    if (status?.lastCommand?.type === 'prepare') this.#written = version;
    return this.#written === version || (this.#isRecordGood && isStagedAhead(this.#context.view.value, version));
  }

  /**
   * Brings `version` into the inactive partition, and no other one. A host that is activated is deactivated first: it could not be prepared,
   * and an unplanned reboot would boot what is there.
   * @param withinMs how long the host may fail and be asked again
   * @throws StepFailedError
   */
  async stage(
    version: string,
    signal: AbortSignal,
    withinMs = this.#context.host.traits.limits.prepareMs,
  ): Promise<void> {
    const { hostWork } = this.#context;
    const work = (): Promise<void> => hostWork.retrying({ withinMs, signal }, () => this.#once(version, signal));
    try {
      await failStepAs('prepare', work);
    } catch (error) {
      const isWayless = error instanceof StepFailedError && error.cause instanceof NoMigrationsError;
      if (!isWayless || !(await this.#wishes.refuse(version, error.message, signal))) throw error;
      // Nobody else needs to hear that this version cannot be had from the one that runs.
      throw new StepFailedError('Unsupported', error.message, { cause: error });
    }
  }

  /** Looks at the host first: the download of an earlier attempt may have succeeded although nobody saw its end. */
  async #once(version: string, signal: AbortSignal): Promise<void> {
    const { host } = this.#context;
    if (host.isCutOff) await forgetStaged(this.#context, signal);
    const before = await host.deactivate(signal);
    if (this.isProven(before, version)) return this.#believe(before, version);
    this.forget();
    const { state, chosen } = before ?? {};
    if (!CHOOSES.has(state) || chosen?.version !== version) await this.#awaitOffer(version, signal);
    try {
      await this.#write(version, signal);
    } catch (error) {
      if (!isOfferVoid(error) && !(error instanceof OtherImageError)) throw error;
      // The host's offer has changed since it was last asked.
      await this.#prepareAgain(version, signal);
    }
  }

  /** An offer that is void a second time has changed. The controller then has a while to choose another version. */
  async #prepareAgain(version: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    await this.#awaitOffer(version, signal);
    try {
      await this.#write(version, signal);
    } catch (error) {
      if (isOfferVoid(error)) await clock.sleep(FOLLOW_MS, signal);
      throw error;
    }
  }

  /** The host chooses again before it downloads, which is as good as a look for updates. */
  async #write(version: string, signal: AbortSignal): Promise<void> {
    const { host, offers, clock } = this.#context;
    await forgetStaged(this.#context, signal);
    const chosenAt = clock.monotonic();
    this.#believe(await host.prepare(version, signal), version);
    offers.note(version, chosenAt);
  }

  /**
   * Looks whether the host offers `version`. Where it does not, reports the offer, and gives the controller a while to follow it. A host that
   * is told its versions has no offer to wait for.
   */
  async #awaitOffer(version: string, signal: AbortSignal): Promise<void> {
    const { apiserver, host, offers, clock, logger } = this.#context;
    if (host.traits.versions === 'told') return;
    const offered = (await offers.refresh(signal)).chosen?.version;
    if (offered === version) return;
    logger.warn('the host does not offer the wanted version', { wanted: version, offered });
    await apiserver.report((view) => withOffer(view, offered ?? view.version), signal);
    await clock.sleep(FOLLOW_MS, signal);
    const later = (await offers.refresh(signal)).chosen?.version;
    if (later !== version) throw targetChanged(version, later);
  }

  /** Another release of the host may describe in other words what it has prepared. Then its status decides. */
  #believe(status: HostStatus | undefined, version: string): void {
    const { chose, type, stderr } = status?.lastCommand ?? {};
    if (type === 'prepare' && chose === undefined)
      this.#context.logger.warn('the host does not say what it has prepared: its status is believed', {
        version,
        stderr,
      });
    this.#written = version;
  }
}

function isOfferVoid(error: unknown): boolean {
  return error instanceof OfferChangedError || error instanceof UpdateGoneError || error instanceof HostRefusedError;
}
