import type { ApiRequest } from './api.ts';
import { parsePath, type ResourcePath } from './path.ts';
import type { Attributes } from './rbac.ts';

/** A request, understood as far as its line goes: nothing here needs to know whether the resource exists. */
export interface Call {
  readonly request: ApiRequest;
  readonly query: Readonly<Record<string, string>>;
  /** As RBAC and the audit log name it. */
  readonly verb: string;
  /** Undefined for discovery, health and the like. */
  readonly resource: ResourcePath | undefined;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

export function understand(request: ApiRequest): Call {
  const resource = parsePath(request.path);
  const query = request.query ?? {};
  const { method } = request;
  if (!resource) return { request, query, resource, verb: method.toLowerCase() };
  const watching = query['watch'] === 'true' || query['watch'] === '1';
  if (resource.name === undefined && method === 'GET') {
    return { request, query, resource: named(resource, query), verb: watching ? 'watch' : 'list' };
  }
  if (resource.name === undefined && method === 'DELETE') return { request, query, resource, verb: 'deletecollection' };
  return { request, query, resource, verb: VERBS[method] ?? 'get' };
}

/** A list or watch of one name is a request about that name: rules that name resources allow it. */
function named(resource: ResourcePath, query: Readonly<Record<string, string>>): ResourcePath {
  const name = /(?:^|,)metadata\.name==?([^,]+)/.exec(query['fieldSelector'] ?? '')?.[1];
  return name === undefined ? resource : { ...resource, name };
}

export function attributes({ request, resource, verb }: Call): Attributes {
  if (!resource) return { verb, path: request.path };
  const { version: _, ...asked } = resource;
  const { group, plural, namespace, name } = asked;
  // The path of a namespace itself is not in that namespace, but the authorizer sees it so.
  const within = group === '' && plural === 'namespaces' ? name : namespace;
  return { ...asked, verb, namespace: within };
}
