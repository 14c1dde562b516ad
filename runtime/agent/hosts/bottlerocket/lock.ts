import { fieldsOf } from '../../../lib/json.ts';
import { SettingsRefusedError } from '../errors.ts';
import { jsonBody } from '../parse.ts';
import type { HostLock, LockChange, LockedAs } from '../port.ts';
import { type HostRequest, type HostResponse, unexpected } from './calls.ts';
import { keysQuery } from './settings.ts';

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

const keysOf = (settings: object): string => keysQuery(named(settings).map(([key]) => key));

const bodyOf = (change: LockChange): string => JSON.stringify({ updates: Object.fromEntries(named(change)) });

const named = (settings: object): [string, unknown][] =>
  Object.entries(settings).map(([key, value]) => [KEYS[key as keyof typeof KEYS], value]);

/** @throws SettingsRefusedError where one of them is not there: then the host renders neither */
function parseLock(body: string): LockedAs {
  const said = fieldsOf(fieldsOf(jsonBody(body, 'GET /settings'))['updates']);
  const [version_lock, ignore_waves] = [said[KEYS.version_lock], said[KEYS.ignore_waves]];
  if (typeof version_lock === 'string' && typeof ignore_waves === 'boolean') return { version_lock, ignore_waves };
  throw new SettingsRefusedError('NoSettings', 'the host has no settings of updates');
}

/** After a lockdown the host says so by these words. */
const LOCKED_DOWN = /Live datastore missing|Required key not available/;

function refusal({ method, path }: Parameters<Send>[0], response: HostResponse): Error {
  const { status, body } = response;
  const [call] = path.split('?', 1);
  const error = unexpected(`${method} ${call}`, response);
  if (status === 500 && LOCKED_DOWN.test(body)) return new SettingsRefusedError('Lockdown', error.message);
  return status === 400 ? new SettingsRefusedError('NoSettings', error.message) : error;
}
