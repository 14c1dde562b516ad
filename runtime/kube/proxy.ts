import { BlockList, isIP } from 'node:net';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a server, by the rules of programs in Go, kubectl among them: `HTTPS_PROXY`, unless the server is on
 * this machine or in `NO_PROXY`. Names in lower case count where the others are not set.
 * @param server e.g. `https://10.0.0.1:443`
 * @see https://pkg.go.dev/golang.org/x/net/http/httpproxy
 */
export function proxyFromEnvironment(server: string, env: Env): string | undefined {
  const proxy = either(env, 'HTTPS_PROXY');
  if (proxy === '' || isExempt(server, either(env, 'NO_PROXY'))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

const either = (env: Env, name: string): string => env[name] || env[name.toLowerCase()] || '';

function isExempt(server: string, exempt: string): boolean {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || isIn(LOOPBACK, host)) return true;
  const entries = exempt.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === '*' || (entry !== '' && matches(entry, host, port || '443')));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const isIn = (list: BlockList, host: string): boolean => isIP(host) !== 0 && list.check(host, familyOf(host));

/** An address, a block of them, or a name with all below it; the first and the last may bear a port. */
function matches(entry: string, host: string, port: string): boolean {
  const [address = '', prefix] = entry.split('/');
  if (prefix !== undefined) return isInBlock(address, Number(prefix), host);
  const { name, port: only } = parts(entry);
  if (only !== undefined && only !== port) return false;
  if (isIP(name) !== 0) return name === host;
  const below = name.replace(/^\*/, '');
  return below.startsWith('.') ? host.endsWith(below) : host === below || host.endsWith(`.${below}`);
}

function parts(entry: string): { readonly name: string; readonly port: string | undefined } {
  if (isIP(entry) === 6) return { name: entry, port: undefined };
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return { name: name.replace(/^\[|\]$/g, ''), port };
}

function isInBlock(address: string, prefix: number, host: string): boolean {
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || !(prefix >= 0 && prefix <= most)) return false;
  const block = new BlockList();
  block.addSubnet(address, prefix, familyOf(address));
  return isIn(block, host);
}
