import { DONE, type HostAnswer, json, text } from './answer.ts';

export interface UpdateSettings {
  'ignore-waves': boolean;
  'metadata-base-url': string;
  seed: number;
  'targets-base-url': string;
  'version-lock': string;
}

const REPOSITORY = 'https://updates.bottlerocket.aws';

/** The part of a host's settings that concerns updates, with the transactions that change it. Outlives a reboot. */
export class HostSettings {
  #committed: UpdateSettings;
  readonly #pending = new Map<string, Partial<UpdateSettings>>();

  constructor(
    initial: Partial<UpdateSettings>,
    { variant, arch }: { readonly variant: string; readonly arch: string },
  ) {
    this.#committed = {
      'ignore-waves': false,
      'metadata-base-url': `${REPOSITORY}/2020-07-07/${variant}/${arch}/`,
      seed: 0,
      'targets-base-url': `${REPOSITORY}/targets/`,
      'version-lock': 'latest',
      ...initial,
    };
  }

  get updates(): Readonly<UpdateSettings> {
    return this.#committed;
  }

  /** Keys need their prefix; those that are not known are left out. */
  get(query: URLSearchParams): HostAnswer {
    const keys = query.get('keys');
    if (keys === null) return json('updates'.startsWith(query.get('prefix') ?? '') ? { updates: this.#committed } : {});
    if (keys === '') return text(400, "Input 'keys' cannot be empty");
    const asked = new Set(keys.split(','));
    const updates = Object.entries(this.#committed).filter(([key]) => asked.has(`settings.updates.${key}`));
    return json(updates.length > 0 ? { updates: Object.fromEntries(updates) } : {});
  }

  patch(query: URLSearchParams, body: string): HostAnswer {
    const change = parsePatch(body, this.#committed);
    if (!change) return text(400, 'Unable to deserialize into Settings');
    const tx = transaction(query);
    this.#pending.set(tx, { ...this.#pending.get(tx), ...change });
    return DONE;
  }

  commit(query: URLSearchParams): HostAnswer {
    const tx = transaction(query);
    const change = this.#pending.get(tx);
    if (!change) return text(422, 'Tried to commit with no pending changes');
    this.#pending.delete(tx);
    this.#committed = { ...this.#committed, ...change };
    return json(Object.keys(change).map((key) => `settings.updates.${key}`));
  }
}

/** `latest`, or the whole of a version. It is kept as it is written. */
const LOCK = /^(latest|v?\d+\.\d+\.\d+)$/;

function transaction(query: URLSearchParams): string {
  return query.get('tx') ?? 'default';
}

/** Undefined where a key or the type of its value is not one of the present settings. */
function parsePatch(body: string, present: UpdateSettings): Partial<UpdateSettings> | undefined {
  let updates: unknown;
  try {
    ({ updates } = JSON.parse(body) as { updates?: unknown });
  } catch {
    return undefined;
  }
  if (typeof updates !== 'object' || updates === null) return undefined;
  const known = new Map<string, unknown>(Object.entries(present));
  const fits = Object.entries(updates).every(([key, value]) => typeof known.get(key) === typeof value);
  const { 'version-lock': lock = 'latest' } = updates as Partial<UpdateSettings>;
  return fits && LOCK.test(lock) ? updates : undefined;
}
