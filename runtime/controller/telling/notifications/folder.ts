import { readFile } from 'node:fs/promises';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { join } from 'node:path';
import { type NotificationConfig, parseNotificationConfig } from '../../../api/notifications/config.ts';
import { NOTIFICATIONS_FILE, SECRET_KEYS } from '../../../api/notifications/names.ts';

/** Address and headers of a target. */
interface Destination {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** With credentials; used in place of the proxy in the configuration, which everybody may read. */
  readonly proxy: string | undefined;
  /** For templates, where the server wants a secret in the body. */
  readonly token: string | undefined;
}

/** A Secret cannot be used. The message says why, and never quotes the Secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** @throws NotificationConfigError, and the system's error where there is no file */
export async function readConfig(dir: string): Promise<NotificationConfig> {
  return parseNotificationConfig(await readFile(join(dir, NOTIFICATIONS_FILE), 'utf8'));
}

/** Read anew for each attempt: the kubelet updates the files of a Secret without notice. @throws SecretError */
export async function readDestination(dir: string, target: string): Promise<Destination> {
  const read = (key: string): Promise<string | undefined> => textIn(join(dir, target, key));
  const [url, headers, proxy, token] = await Promise.all(SECRET_KEYS.map(read));
  if (url === undefined) throw new SecretError('its Secret is not there, or has no url');
  return {
    url: urlIn(url, 'url'),
    headers: headersIn(headers ?? ''),
    proxy: proxy === undefined ? undefined : urlIn(proxy, 'proxy').href,
    token,
  };
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch {
    return undefined;
  }
}

function urlIn(text: string, key: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new SecretError(`the ${key} of its Secret is no URL of http or https`);
}

/** One `Name: value` a line. */
function headersIn(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(lines.map((line, index) => headerIn(line, index + 1)));
}

function headerIn(line: string, number: number): readonly [string, string] {
  const [name = '', ...rest] = line.split(':');
  const value = rest.join(':').trim();
  try {
    validateHeaderName(name.trim());
    validateHeaderValue(name.trim(), value);
    if (rest.length > 0) return [name.trim().toLowerCase(), value];
  } catch {
    // The error is not passed on, because it quotes the header.
  }
  throw new SecretError(`line ${number} of the headers of its Secret is no header`);
}
