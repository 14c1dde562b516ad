import { isSemver } from '../../../runtime/api/shadow/semver.ts';
import { DONE, DROPPED, type HostAnswer, json, text } from './answer.ts';
import { background } from './background.ts';
import type { HostParts } from './times.ts';

export interface UpdateSettings {
  'ignore-waves': boolean;
  'metadata-base-url': string;
  seed: number;
  'targets-base-url': string;
  'version-lock': string;
}

export interface SettingsCall {
  readonly query: URLSearchParams;
  readonly body: string;
  /** Ends what the call has started. */
  readonly signal: AbortSignal;
}

const REPOSITORY = 'https://updates.bottlerocket.aws';
const PREFIX = 'settings.updates.';

/** Until the files of settings that are applied are written, milliseconds. */
const RENDER_MS = 100;

/** After a lockdown, until the host boots. */
const LOCKED_DOWN = 'Required key not available (os error 126)';

/**
 * The part of a host's settings that concerns updates, with the transactions that change it. What is committed outlives a reboot, but for a
 * forgetful host, which reads its user data again. The tools for updates read files, which are written when a change is applied, and at each boot.
 */
export class HostSettings {
  readonly #parts: HostParts;
  readonly #initial: UpdateSettings;
  readonly #pending = new Map<string, Partial<UpdateSettings>>();
  #committed: UpdateSettings;
  #rendered: UpdateSettings;

  constructor(initial: Partial<UpdateSettings>, parts: HostParts) {
    const { variant, arch } = parts;
    this.#parts = parts;
    this.#initial = {
      'ignore-waves': false,
      'metadata-base-url': `${REPOSITORY}/2020-07-07/${variant}/${arch}/`,
      seed: 0,
      'targets-base-url': `${REPOSITORY}/targets/`,
      'version-lock': 'latest',
      ...initial,
    };
    this.#committed = this.#initial;
    this.#rendered = this.#initial;
  }

  get updates(): Readonly<UpdateSettings> {
    return this.#committed;
  }

  /** As the tools for updates have them. */
  get rendered(): Readonly<UpdateSettings> {
    return this.#rendered;
  }

  /** The host has booted. */
  boot(): void {
    this.#pending.clear();
    this.#parts.faults.clear('lockdown');
    if (this.#has('forgetful')) this.#committed = this.#initial;
    this.#rendered = this.#committed;
  }

  /** Keys need their prefix; those that are not known are left out. */
  get({ query }: SettingsCall): HostAnswer {
    if (this.#has('lockdown')) return text(500, 'Unable to read data store: Live datastore missing');
    const [keys, prefix] = [query.get('keys'), query.get('prefix')];
    if (keys === '') return text(400, "Input 'keys' cannot be empty");
    if (prefix === '') return text(400, "Input 'prefix' cannot be empty");
    if (this.#has('no-settings')) return json({});
    if (keys === null) return json('updates'.startsWith(prefix ?? '') ? { updates: this.#committed } : {});
    return json(nested(this.#committed, new Set(keys.split(','))));
  }

  patch({ query, body }: SettingsCall): HostAnswer {
    if (this.#has('lockdown')) return text(500, LOCKED_DOWN);
    const change = this.#has('no-settings') ? undefined : parsePatch(body, this.#committed);
    if (!change) return text(400, 'Json deserialize error: unknown field or invalid value');
    const tx = transaction(query);
    if (Object.keys(change).length > 0) this.#pending.set(tx, { ...this.#pending.get(tx), ...change });
    return DONE;
  }

  pending({ query }: SettingsCall): HostAnswer {
    return json(nested(this.#pending.get(transaction(query)) ?? {}));
  }

  transactions(): HostAnswer {
    return json([...this.#pending.keys()]);
  }

  drop({ query }: SettingsCall): HostAnswer {
    const tx = transaction(query);
    const dropped = Object.keys(this.#pending.get(tx) ?? {});
    this.#pending.delete(tx);
    return json(dropped.map((key) => `${PREFIX}${key}`));
  }

  commit({ query }: SettingsCall): HostAnswer {
    if (this.#has('lockdown')) return text(500, LOCKED_DOWN);
    const tx = transaction(query);
    const change = this.#pending.get(tx);
    if (!change) return text(422, 'Tried to commit with no pending changes');
    this.#pending.delete(tx);
    this.#committed = { ...this.#committed, ...change };
    return this.#parts.faults.strikes('commit-dropped')
      ? DROPPED
      : json(Object.keys(change).map((key) => `${PREFIX}${key}`));
  }

  /** What is committed stays so where the program that applies it does not start. */
  commitAndApply(call: SettingsCall): HostAnswer {
    const committed = this.commit(call);
    if (committed.kind !== 'answer' || committed.status !== 200) return committed;
    return this.#render(call.signal) ?? committed;
  }

  /** Without keys all files are written. The answer has a body where HTTP allows none. */
  apply({ query, signal }: SettingsCall): HostAnswer {
    const keys = query.get('keys')?.split(',');
    const isOurs = keys?.some((key) => key.startsWith(PREFIX)) ?? true;
    return (isOurs ? this.#render(signal) : undefined) ?? text(204, 'null');
  }

  /** Nobody hears whether it succeeds. */
  #render(signal: AbortSignal): HostAnswer | undefined {
    if (this.#parts.faults.strikes('applier-failed'))
      return text(500, 'Unable to start config applier: No such file or directory');
    background(this.#write(signal), signal);
    return undefined;
  }

  async #write(signal: AbortSignal): Promise<void> {
    await this.#parts.clock.sleep(RENDER_MS, signal);
    if (!this.#has('unrendered')) this.#rendered = this.#committed;
  }

  #has(fault: 'lockdown' | 'no-settings' | 'forgetful' | 'unrendered'): boolean {
    return this.#parts.faults.leftMs(fault) > 0;
  }
}

/** @param asked with their prefix */
function nested(settings: Partial<UpdateSettings>, asked?: ReadonlySet<string>): object {
  const updates = Object.entries(settings).filter(([key]) => asked?.has(`${PREFIX}${key}`) ?? true);
  return updates.length > 0 ? { updates: Object.fromEntries(updates) } : {};
}

function transaction(query: URLSearchParams): string {
  return query.get('tx') ?? 'default';
}

/** Undefined where a key or the type of its value is not one of the present settings. A null changes nothing. */
function parsePatch(body: string, present: UpdateSettings): Partial<UpdateSettings> | undefined {
  let updates: unknown;
  try {
    ({ updates } = JSON.parse(body) as { updates?: unknown });
  } catch {
    return undefined;
  }
  if (typeof (updates ?? {}) !== 'object') return undefined;
  const known = new Map<string, unknown>(Object.entries(present));
  const given = Object.entries(updates ?? {}).filter(([, value]) => value !== null);
  const fits = given.every(([key, value]) => typeof known.get(key) === typeof value);
  const change = Object.fromEntries(given) as Partial<UpdateSettings>;
  return fits && isLock(change['version-lock'] ?? 'latest') ? change : undefined;
}

/** `latest`, or the whole of a version, with or without a `v`. It is kept as it is written. */
const isLock = (lock: string): boolean => lock === 'latest' || isSemver(lock.replace(/^v/, ''));
