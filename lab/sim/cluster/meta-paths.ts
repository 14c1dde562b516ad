import type { PlainResponse } from './api.ts';
import { discovery } from './kubectl/discovery.ts';
import { OPENAPI_V2, openapiV3 } from './kubectl/openapi.ts';
import type { Registry } from './registry.ts';
import { noSuchPath } from './status.ts';

const HEALTH = new Set(['/healthz', '/livez', '/readyz']);

/** The version that the cluster says it is: the one whose behaviour it follows. */
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'embedded',
  platform: 'linux/amd64',
};

/** Paths that are about the API itself. @throws StatusError 404 */
export function metaPath(registry: Registry, method: string, path: string): PlainResponse {
  if (method !== 'GET' && method !== 'HEAD') throw noSuchPath();
  if (HEALTH.has(path)) return { status: 200, body: 'ok' };
  if (path === '/version' || path === '/version/') return { status: 200, body: VERSION };
  if (path === '/openapi/v2') return { status: 200, body: OPENAPI_V2 };
  const types = registry.types();
  const body = discovery(path, types) ?? openapiV3(path, types, registry.views());
  if (body === undefined) throw noSuchPath();
  return { status: 200, body };
}
