import type { UserInfo } from '../sim/cluster/cluster.ts';
import type { Random } from '../../runtime/lib/random.ts';
import type { Life, TrueTime } from './clock.ts';
import type { Lines } from './lines.ts';
import type { Asked, Meeting, Moments } from './moments.ts';
import type { Outcome, Process } from './types.ts';
import { never, type Sender } from './waiting.ts';

/** One life of a process, as the network knows it. */
export interface Member {
  readonly process: Process;
  readonly life: Life;
  /** Who it is to the Kubernetes API. */
  readonly user: UserInfo;
}

/** What is sent to whom, and what it can come to. */
export interface Parcel<T> {
  readonly member: Member;
  readonly to: string;
  readonly asked: Asked;
  /** Does what is asked for, once it has arrived. */
  readonly land: () => Promise<T>;
  /** What the sender makes of an answer with this status of something on the way; it may throw. */
  readonly answered: (code: number, byProxy: boolean) => T;
  readonly broken: (code: string) => Error;
}

export interface CarriageOptions {
  readonly time: TrueTime;
  readonly random: Random;
  readonly lines: Lines;
  readonly moments: Moments;
}

/** Which of a process' requests are disturbed. */
export interface DisturbTerms {
  /** The next so many. @default all */
  readonly count?: number;
  readonly path?: RegExp;
  readonly method?: string;
  /** Drawn for each request. @default each is */
  readonly isStruck?: () => boolean;
}

/** One standing disturbance of requests. */
interface Disturbed extends Omit<DisturbTerms, 'count'> {
  readonly process: string;
  readonly outcome: Outcome;
  left: number;
}

/** A proxy waits for an answer no longer than this, milliseconds. */
const PROXY_MS = 10_000;

/** Carries requests there and their answers back, with all that can come in between. */
export class Carriage {
  readonly #options: CarriageOptions;
  #disturbed: Disturbed[] = [];

  constructor(options: CarriageOptions) {
    this.#options = options;
  }

  /** The requests of the process that fit come to this. Returns what ends it. */
  disturb(process: string, outcome: Outcome, { count = Infinity, ...fitting }: DisturbTerms = {}): () => void {
    const one: Disturbed = { ...fitting, process, outcome, left: count };
    this.#disturbed.push(one);
    return () => this.#leave(one);
  }

  async carry<T>(parcel: Parcel<T>, sender: Sender): Promise<T> {
    const { lines, moments } = this.#options;
    const { member, to, asked } = parcel;
    const { name } = member.process;
    const meeting = moments.meet(member.process, asked);
    if (meeting) await begun(meeting, member.life, sender);
    const outcome = meeting?.struck.outcome ?? this.#standing(name, asked);
    if (outcome) return this.#carryDisturbed(parcel, outcome, meeting);
    if (!(await lines.pass(name, to, sender.isGone))) return never();
    const landed = await outcomeOf(parcel.land());
    meeting?.pass('between');
    const late = meeting?.struck.outcome;
    await lines.pass(to, name);
    if (late) return this.#insteadOf(parcel, late);
    return landed();
  }

  async #carryDisturbed<T>(parcel: Parcel<T>, outcome: Outcome, meeting: Meeting | undefined): Promise<T> {
    const { time, random, lines } = this.#options;
    const { name } = parcel.member.process;
    await lines.pass(name, parcel.to);
    const lands = outcome.kind !== 'answered' && outcome.lands;
    const afterMs = typeof lands === 'object' ? lands.afterMs : 0;
    if (lands) time.after(afterMs, () => void outcomeOf(parcel.land()));
    meeting?.pass('between');
    if (outcome.kind === 'lost' && outcome.code !== undefined) await time.sleep(random() * PROXY_MS);
    await lines.pass(parcel.to, name);
    return this.#insteadOf(parcel, outcome);
  }

  #insteadOf<T>({ answered, broken }: Parcel<T>, outcome: Outcome): T | Promise<T> {
    if (outcome.kind === 'hangs') return never();
    if (outcome.kind === 'answered') return answered(outcome.code, outcome.byProxy ?? false);
    if (outcome.code !== undefined) return answered(outcome.code, true);
    throw broken('ECONNRESET');
  }

  /** What the request comes to by a disturbance that stands. */
  #standing(process: string, { request: { method, path } }: Asked): Outcome | undefined {
    const one = this.#disturbed.find(
      (other) =>
        other.process === process &&
        (other.path?.test(path) ?? true) &&
        (other.method === undefined || other.method === method) &&
        (other.isStruck?.() ?? true),
    );
    if (!one) return undefined;
    one.left -= 1;
    if (one.left <= 0) this.#leave(one);
    return one.outcome;
  }

  #leave(one: Disturbed): void {
    this.#disturbed = this.#disturbed.filter((other) => other !== one);
  }
}

/** What is aimed before the request has begun, and its sender can act: what has been killed sends nothing. */
async function begun(meeting: Meeting, life: Life, sender: Sender): Promise<void> {
  sender.onOver(() => meeting.pass('after'));
  meeting.pass('before');
  await new Promise<void>((resolve) => life.deliver(resolve));
}

/** What it has come to, for when its answer has arrived. */
function outcomeOf<T>(work: Promise<T>): Promise<() => T> {
  return work.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
}
