import type { Clock } from '../../../runtime/lib/clock.ts';

interface FaultKind {
  /** What happens, in one line. */
  readonly what: string;
  /** How often it strikes before it is over; unset = each time until it is cleared. */
  readonly uses?: number;
  /** How long it lasts from its injection, milliseconds; unset = until it is cleared. */
  readonly forMs?: number;
}

/** Everything that can be made to go wrong with a host, by name. */
export const FAULTS = {
  boot: { what: 'an image that has not booted here before does not boot: the host falls back to the old version' },
  unmarked: {
    what: 'the next image that boots is not marked as a success: the start after it goes back to the old version',
    uses: 1,
  },
  refresh: { what: 'refresh-updates fails with exit status 1' },
  prepare: { what: 'prepare-update wipes the inactive partition set and then fails with exit status 1' },
  migration: {
    what: 'prepare-update fails with exit status 1 at a migration: it has said that it starts, and the partition sets stay as they are',
  },
  'no-migrations': {
    what: 'prepare-update fails with exit status 1, because no path of migrations leads from the running version to the chosen one',
  },
  'repository-gone': {
    what: 'the update repository refuses the host: each action fails within a second, and the partition sets stay as they are',
  },
  'repository-expired': { what: 'the metadata of the update repository have expired: each action fails at once' },
  'repository-dropped': { what: 'connections to the update repository are dropped: each action fails after 50 s' },
  'repository-silent': { what: 'the update repository accepts and never answers: each action fails after 150 s' },
  activate: { what: 'activate-update fails with exit status 1' },
  deactivate: { what: 'deactivate-update fails with exit status 1' },
  busy: { what: 'another tool holds the update lock for 30 s: status and actions answer 423', forMs: 30_000 },
  reader: { what: 'another tool reads the status for 30 s: actions answer 423', forMs: 30_000 },
  'dispatcher-missing': { what: 'the image has no tool for updates: actions answer 500' },
  'dispatcher-failed': { what: 'the tool for updates does not start: the next action answers 500', uses: 1 },
  'dispatcher-killed': {
    what: 'the dispatcher of the next action is killed: the lock is free, the status stays, and updog goes on without it',
    uses: 1,
  },
  'updog-killed': {
    what: 'the tool of the next action is killed half-way: it has failed, with exit status 9',
    uses: 1,
  },
  'updog-missing': { what: 'only the dispatcher is there: actions are accepted and leave no result' },
  'torn-status': {
    what: 'the next action tears the file of the status: status and actions answer 500 until the host reboots',
    uses: 1,
  },
  'stale-choice': {
    what: 'the configuration of the dispatcher is missing: refresh-updates succeeds and leaves the old choice',
  },
  hang: { what: 'the next action never ends and keeps the lock until the host reboots', uses: 1 },
  garbage: { what: 'whatever has a body is answered 200 with JSON that makes no sense, for 10 s', forMs: 10_000 },
  truncated: { what: 'connections break in the middle of the answer, for 10 s', forMs: 10_000 },
  silent: { what: 'connections are accepted and never answered, for 30 s', forMs: 30_000 },
  slow: { what: 'each answer takes 2 s, for 60 s', forMs: 60_000 },
  'socket-gone': { what: "the host's API server is away for 20 s in the middle of the next action", uses: 1 },
  'socket-replaced': { what: "the host's API server restarts in the middle of the next action", uses: 1 },
  'half-open': { what: 'the next action begins, and its answer never comes: the connection stays open', uses: 1 },
  denied: {
    what: 'the socket may not be connected to for 20 s; where that cannot be forbidden (to root), connections break',
    forMs: 20_000,
  },
  'offer-gone': {
    what: 'no update is there at the next prepare-update, which succeeds and writes nothing',
    uses: 1,
  },
  'offer-changed': {
    what: 'another tool makes the host choose the oldest release before the next prepare-update',
    uses: 1,
  },
  released: {
    what: 'a newer release comes out just before the next prepare-update, which takes it; the status names the older one',
    uses: 1,
  },
  'torn-settings': {
    what: 'only the tool that writes images has a new version-lock: prepare-update takes the oldest release, the status names another',
  },
  'no-settings': { what: 'the image has no settings of updates: they read as empty, and a change is refused' },
  lockdown: { what: 'the host is locked down until it boots: settings answer 500' },
  forgetful: { what: 'at each boot the host reads its user data again: settings that were committed are lost' },
  'applier-failed': {
    what: 'settings are applied with 500 and not rendered, once, and are committed all the same',
    uses: 1,
  },
  unrendered: { what: 'settings are applied with 204 and not rendered until it boots or this is over' },
  'commit-dropped': {
    what: 'the next change of settings is made, and its connection breaks before the answer',
    uses: 1,
  },
  reworded: { what: 'the tool that writes images has other words for what it does' },
  'no-wave': { what: 'no wave has reached the host: nothing is chosen, for 60 s', forMs: 60_000 },
  downgrade: { what: 'version-lock names the oldest release: that is offered, or nothing to a host that runs it' },
  'staged-by-hand': { what: 'another tool prepares the update as soon as it is offered', uses: 1 },
  'activated-by-hand': { what: 'another tool prepares and activates the update as soon as it is offered', uses: 1 },
  'restaged-by-hand': { what: 'another tool stages the oldest release just before the next activate-update', uses: 1 },
  inhibitor: { what: 'an inhibitor delays the next reboot by 120 s', uses: 1 },
  'reboot-500': { what: 'the next request to reboot answers 500', uses: 1 },
  'reboot-dropped': { what: 'the next request to reboot loses its connection before the answer', uses: 1 },
  'reboot-ignored': { what: 'the next request to reboot is accepted, and nothing happens', uses: 1 },
  'unplanned-reboot': { what: 'the host reboots by itself in the middle of the next action', uses: 1 },
  'no-return': { what: 'the host does not come back from its next reboot', uses: 1 },
} as const satisfies Record<string, FaultKind>;

/** Whoever changes no settings does not meet these. */
export const OF_SETTINGS = [
  'no-settings',
  'lockdown',
  'forgetful',
  'applier-failed',
  'unrendered',
  'commit-dropped',
] as const satisfies readonly (keyof typeof FAULTS)[];

export type FaultName = keyof typeof FAULTS;

/** The meaning of each fault by its name, for a help text. */
export const FAULT_MEANINGS: Readonly<Record<FaultName, string>> = Object.fromEntries(
  Object.entries(FAULTS).map(([name, { what }]) => [name, what]),
) as Record<FaultName, string>;

export function isFaultName(text: string): text is FaultName {
  return Object.hasOwn(FAULTS, text);
}

/** What is to differ from the table, and how long to wait before the fault begins. */
export interface FaultTerms {
  readonly uses?: number;
  readonly forMs?: number;
  readonly afterMs?: number;
}

interface Injected {
  uses: number;
  readonly from: number;
  readonly until: number;
}

/** The faults of one host. */
export class Faults {
  readonly #clock: Clock;
  readonly #injected = new Map<FaultName, Injected>();
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  inject(name: FaultName, terms: FaultTerms = {}): void {
    const { uses = Infinity, forMs = Infinity, afterMs = 0 }: FaultTerms = { ...FAULTS[name], ...terms };
    const from = this.#clock.monotonic() + afterMs;
    this.#injected.set(name, { uses, from, until: from + forMs });
  }

  clear(name: FaultName): void {
    this.#injected.delete(name);
  }

  /** Milliseconds that the fault still lasts; 0 when it is not there, Infinity when it lasts until it is cleared. */
  leftMs(name: FaultName): number {
    const fault = this.#injected.get(name);
    const now = this.#clock.monotonic();
    return fault && fault.uses > 0 && now >= fault.from ? Math.max(0, fault.until - now) : 0;
  }

  /** Whether the fault hits what is happening now; uses up one of its strikes. */
  strikes(name: FaultName): boolean {
    const fault = this.#injected.get(name);
    if (!fault || this.leftMs(name) === 0) return false;
    fault.uses -= 1;
    return true;
  }
}
