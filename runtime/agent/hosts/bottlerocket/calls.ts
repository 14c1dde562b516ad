import {
  HostActionFailedError,
  HostBusyError,
  type HostError,
  HostProtocolError,
  HostRefusedError,
  UpdateGoneError,
  UpdatesUnsupportedError,
} from '../errors.ts';
import { parseOs, parseStatus } from '../parse.ts';
import type { HostAction, HostSettings, HostStatus, OsInfo } from '../port.ts';
import { parseSettings, SETTINGS_PATH } from './settings.ts';

/** The way to the host's API: a unix socket in production, the simulated host itself in tests on virtual time. */
export interface HostTransport {
  /** @throws HostUnreachableError when no whole answer came in time */
  request(request: HostRequest): Promise<HostResponse>;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** e.g. `/updates/status`. */
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
  /** Milliseconds until the answer must be complete. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HostResponse {
  readonly status: number;
  readonly body: string;
}

/** Every answer takes less, unless the connection is half open. */
const ANSWER_MS = 15_000;
/** What the host offers is told after them, though it does not depend on them. */
const SETTINGS_MS = 2000;

const ACTION_PATHS: Readonly<Record<HostAction | 'reboot', string>> = {
  refresh: '/actions/refresh-updates',
  prepare: '/actions/prepare-update',
  activate: '/actions/activate-update',
  deactivate: '/actions/deactivate-update',
  reboot: '/actions/reboot',
};

/** The host's API, one request for each call. The host's answer becomes a value or an error. Nothing is tried again. */
export class HostCalls {
  readonly #transport: HostTransport;
  constructor(transport: HostTransport) {
    this.#transport = transport;
  }

  async os(signal?: AbortSignal): Promise<OsInfo> {
    const response = await this.send({ method: 'GET', path: '/os' }, signal);
    if (response.status === 200) return parseOs(response.body);
    throw unexpected('GET /os', response);
  }

  /** Undefined before the first action after a boot. @throws HostBusyError while an action runs */
  async status(signal?: AbortSignal): Promise<HostStatus | undefined> {
    const path = '/updates/status';
    const response = await this.send({ method: 'GET', path }, signal);
    if (response.status === 200) return parseStatus(response.body);
    // With an empty body the API says that it has no such path.
    if (response.status === 404 && response.body !== '') return undefined;
    if (response.status === 423) throw new HostBusyError(response.body);
    throw unexpected(`GET ${path}`, response);
  }

  /** Fields that the host does not tell, or that make no sense, are left out. After a lockdown it tells none until it boots. */
  async settings(signal?: AbortSignal): Promise<HostSettings> {
    const request = { method: 'GET', path: SETTINGS_PATH, signal, timeoutMs: SETTINGS_MS } as const;
    const response = await this.#transport.request(request);
    if (response.status === 200) return parseSettings(response.body);
    throw unexpected('GET /settings', response);
  }

  /** Starts an action, which goes on after this resolves. @throws HostBusyError while another action runs */
  async start(action: HostAction | 'reboot', signal?: AbortSignal): Promise<void> {
    const response = await this.send({ method: 'POST', path: ACTION_PATHS[action] }, signal);
    if (response.status !== 204) throw refusal(action, response);
  }

  /** Any call, as it is answered. */
  send(request: Pick<HostRequest, 'method' | 'path' | 'body'>, signal?: AbortSignal): Promise<HostResponse> {
    return this.#transport.request({ ...request, signal, timeoutMs: ANSWER_MS });
  }
}

function refusal(action: HostAction | 'reboot', response: HostResponse): HostError {
  const { status, body } = response;
  if (status === 423) return new HostBusyError(body);
  if (status === 409) return new HostRefusedError(`${action}: ${body}`);
  if (status === 404 && body !== '') return new UpdateGoneError(`${action}: ${body}`);
  if (status !== 500) return unexpected(`POST ${ACTION_PATHS[action]}`, response);
  const missing = body.startsWith('Unable to start the update dispatcher: No such file');
  return missing ? new UpdatesUnsupportedError(body.trim()) : new HostActionFailedError(action, body);
}

/** @param call e.g. `GET /os` */
export function unexpected(call: string, { status, body }: HostResponse): HostProtocolError {
  return new HostProtocolError(`${call}: answered ${status} ${JSON.stringify(body.slice(0, 200))}`);
}
