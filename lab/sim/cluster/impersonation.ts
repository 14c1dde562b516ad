import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from './api.ts';
import { StatusError } from './status.ts';

const AUTHENTICATED = 'system:authenticated';

/**
 * Whom a request acts for: the bearer of its token or, where an administrator asks for it (`kubectl --as`), another user. Nobody else
 * may, whatever the roles say.
 * @throws StatusError 403
 */
export function actingUser(user: UserInfo, headers: IncomingHttpHeaders): UserInfo {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string') return user;
  if (!user.groups.includes('system:masters')) {
    const message = `users "${username}" is forbidden: User "${user.username}" cannot impersonate resource "users" in API group ""`;
    throw new StatusError({ code: 403, reason: 'Forbidden', message });
  }
  // Node joins the values of a header that comes several times.
  const named = String(headers['impersonate-group'] ?? '')
    .split(/, */u)
    .filter(Boolean);
  return { username, groups: [...(named.length > 0 ? named : impliedGroups(username)), AUTHENTICATED] };
}

function impliedGroups(username: string): readonly string[] {
  const namespace = /^system:serviceaccount:(?<namespace>[^:]+):[^:]+$/u.exec(username)?.groups?.['namespace'];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
