import { boundedJson, fieldsOf, jsonObject } from '../../../lib/json.ts';
import { HostProtocolError, SettingsRefusedError } from '../errors.ts';
import type { HostLock, LockChange, LockedAs } from '../port.ts';
import type { HostRequest, HostResponse } from './calls.ts';

type Send = (request: Pick<HostRequest, 'method' | 'path' | 'body'>, signal?: AbortSignal) => Promise<HostResponse>;
/** Asks a host in trouble again. */
type Ask = <T>(request: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Ours alone: the default one is shared by all clients of the host. */
const TX = 'tx=brupop';
const KEYS = { version_lock: 'version-lock', ignore_waves: 'ignore-waves' } as const;

/** The settings that keep a host at a version, by its API. */
export function settingsLock(send: Send, ask: Ask): HostLock {
  const expecting = async (status: number, request: Parameters<Send>[0], signal?: AbortSignal): Promise<string> => {
    const response = await send(request, signal);
    if (response.status !== status) throw refusal(request, response);
    return response.body;
  };
  return {
    read: (signal) =>
      ask(
        async () => parseLock(await expecting(200, { method: 'GET', path: `/settings?${keysOf(KEYS)}` }, signal)),
        signal,
      ),
    commit: (change, signal) =>
      ask(async () => {
        // What an agent that was killed has left in it would be committed as well.
        await send({ method: 'DELETE', path: `/tx?${TX}` }, signal);
        await expecting(204, { method: 'PATCH', path: `/settings?${TX}`, body: bodyOf(change) }, signal);
        await expecting(200, { method: 'POST', path: `/tx/commit?${TX}` }, signal);
      }, signal),
    apply: (change, signal) =>
      ask(
        async () => void (await expecting(204, { method: 'POST', path: `/tx/apply?${keysOf(change)}` }, signal)),
        signal,
      ),
  };
}

const keysOf = (settings: object): string =>
  `keys=${named(settings)
    .map(([key]) => `settings.updates.${key}`)
    .join(',')}`;

const bodyOf = (change: LockChange): string => JSON.stringify({ updates: Object.fromEntries(named(change)) });

const named = (settings: object): [string, unknown][] =>
  Object.entries(settings).map(([key, value]) => [KEYS[key as keyof typeof KEYS], value]);

/** @throws SettingsRefusedError where one of them is not there: then the host renders neither */
function parseLock(body: string): LockedAs {
  try {
    boundedJson(body);
  } catch (cause) {
    throw new HostProtocolError(`GET /settings: not JSON: ${JSON.stringify(body.slice(0, 100))}`, { cause });
  }
  const said = fieldsOf(jsonObject(body)['updates']);
  const [version_lock, ignore_waves] = [said[KEYS.version_lock], said[KEYS.ignore_waves]];
  if (typeof version_lock === 'string' && typeof ignore_waves === 'boolean') return { version_lock, ignore_waves };
  throw new SettingsRefusedError('NoSettings', 'the host has no settings of updates');
}

/** After a lockdown the host says so by these words. */
const LOCKED_DOWN = /Live datastore missing|Required key not available/;

function refusal({ method, path }: Parameters<Send>[0], { status, body }: HostResponse): Error {
  const [call] = path.split('?', 1);
  const said = `${method} ${call}: answered ${status} ${JSON.stringify(body.slice(0, 200))}`;
  if (status === 500 && LOCKED_DOWN.test(body)) return new SettingsRefusedError('Lockdown', said);
  return status === 400 ? new SettingsRefusedError('NoSettings', said) : new HostProtocolError(said);
}
