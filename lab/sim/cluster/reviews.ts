import type { UserInfo } from './api.ts';
import type { Core } from './core.ts';
import { at, fields, type Fields, isFields, list, text } from './object.ts';
import { allowed, type Attributes } from './rbac.ts';
import type { ResourceType } from './resources.ts';
import { badRequest, invalid, invalidValue, notImplemented } from './status.ts';
import type { Tokens } from './tokens.ts';

interface Question {
  readonly core: Core;
  readonly tokens: Tokens;
  readonly user: UserInfo;
  readonly spec: Fields;
}

/** Resources that are questions: POST answers at once and stores nothing. */
const ANSWERS: Readonly<Record<string, (question: Question) => object>> = {
  TokenReview: ({ tokens, spec }) => reviewToken(tokens, spec),
  SelfSubjectReview: ({ user }) => ({ userInfo: user }),
  SelfSubjectAccessReview: ({ core, user, spec }) => access(core, user, spec),
  SubjectAccessReview: ({ core, spec }) => access(core, subject(spec), spec),
};

/** The body with its `status` filled in. @throws StatusError 400, 422, 501 */
export function review(type: ResourceType, body: unknown, question: Omit<Question, 'spec'>): object {
  if (!isFields(body)) throw badRequest(`the body of the request must be a ${type.kind}`);
  const answer = ANSWERS[type.kind];
  if (!answer) throw notImplemented(type.kind);
  const status = answer({ ...question, spec: fields(body['spec']) });
  return {
    kind: type.kind,
    apiVersion: `${type.group}/${type.version}`,
    metadata: {},
    spec: fields(body['spec']),
    status,
  };
}

function reviewToken(tokens: Tokens, spec: Fields): object {
  const token = text(spec['token']);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const verdict = tokens.review(token, list(spec['audiences']).map(text));
  return typeof verdict === 'string'
    ? { authenticated: false, user: {}, error: verdict }
    : { authenticated: true, ...verdict };
}

function access(core: Core, user: UserInfo, spec: Fields): object {
  if (!isFields(spec['resourceAttributes']) === !isFields(spec['nonResourceAttributes'])) {
    throw unanswerable(
      'resourceAttributes',
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
  }
  const asked = attributes(spec);
  const yes = allowed(core.store, user, asked);
  return { allowed: yes, ...(yes && { reason: 'RBAC: allowed' }) };
}

function attributes(spec: Fields): Attributes {
  const path = at(spec, 'nonResourceAttributes', 'path');
  if (typeof path === 'string') return { verb: text(at(spec, 'nonResourceAttributes', 'verb')), path };
  const resource = fields(spec['resourceAttributes']);
  return {
    verb: text(resource['verb']),
    group: text(resource['group']),
    plural: text(resource['resource']),
    subresource: text(resource['subresource']) || undefined,
    namespace: text(resource['namespace']) || undefined,
    name: text(resource['name']) || undefined,
  };
}

function subject(spec: Fields): UserInfo {
  if (text(spec['user']) === '' && list(spec['groups']).length === 0) {
    throw unanswerable('user', 'at least one of user or group must be specified');
  }
  return { username: text(spec['user']), groups: list(spec['groups']).map(text) };
}

function unanswerable(field: string, why: string): Error {
  const type = { kind: '', group: 'authorization.k8s.io' };
  return invalid({ type, name: '' }, [invalidValue(`spec.${field}`, null, why)]);
}
