import type { EventPort, EventRecord } from '../kube/events.ts';
import type { ObjectReference } from '../kube/objects.ts';
import type { Plan } from './plan/plan.ts';
import type { Halted, ReleaseName } from './plan/releases.ts';
import type { Snapshot } from './plan/snapshot.ts';

/** What plans say of the fleet as a whole, told when it changes. The Events are about the controller's Lease, which all leaders share. */
export class Announcements {
  readonly #events: EventPort;
  readonly #halted = new Set<string>();
  #warned = new Set<string>();
  #open: boolean | undefined;
  #triggeredAt: number | undefined;

  constructor(events: EventPort) {
    this.#events = events;
  }

  /**
   * Waits for no answer: whoever acts does not wait for who tells. What the cluster does not take is told again with a later plan, if it still
   * stands; a window that opened has its moment only once.
   */
  tell(
    { halted, offered, warnings }: Pick<Plan, 'halted' | 'offered' | 'warnings'>,
    { window }: Pick<Snapshot, 'window'>,
    lease: ObjectReference,
  ): void {
    const told = [...this.#halts(halted, offered), ...this.#window(window), ...this.#warnings(warnings)];
    for (const { event, forget } of told) {
      void this.#events.record({ regarding: lease, ...event }).then((isWritten) => isWritten || forget());
    }
  }

  /** A version that nobody is offered any more stays as it was: nobody may start on it, and nobody would. */
  #halts(halted: readonly Halted[], offered: Plan['offered']): Announcement[] {
    const now = new Set(halted.map(nameOf));
    const begun = halted.filter((release) => !this.#halted.has(nameOf(release)));
    const over = offered.map(nameOf).filter((name) => this.#halted.has(name) && !now.has(name));
    for (const name of over) this.#halted.delete(name);
    for (const name of now) this.#halted.add(name);
    return [
      ...begun.map((release) => {
        const name = nameOf(release);
        const message = `no further node starts on ${name}: it failed on ${release.failures}`;
        return warning('RolloutHalted', message, () => this.#halted.delete(name));
      }),
      ...over.map((name) => normal('RolloutResumed', `nodes may start on ${name} again`, () => this.#halted.add(name))),
    ];
  }

  /** What is found at the beginning is no change. */
  #window({ open, triggeredAt }: Snapshot['window']): Announcement[] {
    const isTriggered = this.#open !== undefined && triggeredAt !== undefined && triggeredAt !== this.#triggeredAt;
    const isTurned = this.#open !== undefined && open !== this.#open;
    this.#open = open;
    this.#triggeredAt = triggeredAt;
    if (isTriggered) return [normal('WindowOpened', 'the schedule has started updates for all nodes that wait')];
    if (!isTurned) return [];
    return [
      open
        ? normal('WindowOpened', 'updates may start')
        : normal('WindowClosed', 'no update starts until the next window'),
    ];
  }

  #warnings(warnings: Plan['warnings']): Announcement[] {
    const before = this.#warned;
    this.#warned = new Set(warnings.map(({ reason }) => reason));
    return warnings
      .filter(({ reason }) => !before.has(reason))
      .map(({ reason, message }) => warning(reason, message, () => this.#warned.delete(reason)));
  }
}

interface Announcement {
  readonly event: Omit<EventRecord, 'regarding'>;
  /** The cluster does not have it: whatever was noted of it is taken back. */
  readonly forget: () => unknown;
}

const NOTHING = (): void => undefined;
const normal = (reason: string, message: string, forget: Announcement['forget'] = NOTHING): Announcement => ({
  event: { type: 'Normal', reason, message },
  forget,
});
const warning = (reason: string, message: string, forget: Announcement['forget']): Announcement => ({
  event: { type: 'Warning', reason, message },
  forget,
});

const nameOf = ({ family, version }: ReleaseName): string => `${version} (${family})`;
