import { createHmac, timingSafeEqual } from 'node:crypto';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { UserInfo } from './api.ts';
import { builtIn, type Core, mustGet, PODS } from './core.ts';
import { secret, uuid } from './ids.ts';
import { at, fields, isFields, type KubeJson, list, text } from './object.ts';
import { badRequest, conflict, invalid } from './status.ts';
import type { Ref } from './store.ts';

/** The audience of the cluster's own API. */
export const API_AUDIENCE = 'https://kubernetes.default.svc.cluster.local';

const ACCOUNTS = builtIn('serviceaccounts');
const NODES = builtIn('nodes');
const DEFAULT_LIFE_S = 3600;
const SHORTEST_LIFE_S = 600;
/** A pod that is deleted keeps its credentials a little longer, milliseconds. */
const DELETED_POD_MS = 60_000;

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Seconds since the Unix epoch, as are all times in here. */
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: Identity;
    readonly pod?: Identity;
    readonly node?: Identity;
  };
}

interface Identity {
  readonly name: string;
  readonly uid: string;
}

/** Service account tokens: signed, so that nothing about them has to be kept. */
export class Tokens {
  readonly #core: Core;
  readonly #key: string;

  constructor(core: Core) {
    this.#core = core;
    this.#key = secret(32, core.random);
  }

  /** The `token` subresource of a service account. @throws StatusError 400, 404, 409, 422 */
  issue(ref: Ref, body: unknown): object {
    if (!isFields(body)) throw badRequest('the body of the request must be a TokenRequest');
    const account = mustGet(this.#core, { ...ref, type: ACCOUNTS });
    const spec = fields(body['spec']);
    const life = Number(spec['expirationSeconds'] ?? DEFAULT_LIFE_S);
    if (life < SHORTEST_LIFE_S) throw tooShort(ref, life);
    const bound = this.#bound(account, spec['boundObjectRef']);
    const audiences = list(spec['audiences']).map(text);
    const now = Math.floor(this.#core.clock.now() / 1000);
    const claims: Claims = {
      iss: API_AUDIENCE,
      sub: `system:serviceaccount:${account.metadata.namespace}:${account.metadata.name}`,
      aud: audiences.length > 0 ? audiences : [API_AUDIENCE],
      exp: now + life,
      iat: now,
      jti: uuid(this.#core.random),
      'kubernetes.io': { namespace: account.metadata.namespace ?? '', serviceaccount: identity(account), ...bound },
    };
    const status = { token: this.#sign(claims), expirationTimestamp: rfc3339(claims.exp * 1000) };
    const filled = { ...spec, audiences: claims.aud, expirationSeconds: life };
    const { name, namespace } = account.metadata;
    const metadata = { name, namespace, creationTimestamp: rfc3339(now * 1000) };
    return { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata, spec: filled, status };
  }

  /** Who bears this token, and for which of `audiences` it is good. A string says why it is refused. */
  review(token: string, audiences: readonly string[]): { user: UserInfo; audiences: readonly string[] } | string {
    const claims = this.#verify(token);
    if (!claims) return 'invalid bearer token';
    if (claims.exp * 1000 <= this.#core.clock.now()) return 'invalid bearer token, service account token has expired';
    const wanted = audiences.length > 0 ? audiences : [API_AUDIENCE];
    const shared = wanted.filter((audience) => claims.aud.includes(audience));
    if (shared.length === 0) {
      return `invalid bearer token, token audiences ${JSON.stringify(claims.aud)} is invalid for the target audiences ${JSON.stringify(wanted)}`;
    }
    const why = this.#revoked(claims['kubernetes.io']);
    return why ?? { user: userOf(claims), audiences: shared };
  }

  #bound(account: KubeJson, reference: unknown): { pod?: Identity; node?: Identity } {
    if (!isFields(reference)) return {};
    if (reference['kind'] !== 'Pod') throw badRequest(`cannot bind token to object of type ${text(reference['kind'])}`);
    const name = text(reference['name']);
    const pod = mustGet(this.#core, { type: PODS, namespace: account.metadata.namespace, name });
    const uid = text(reference['uid']);
    if (uid !== '' && uid !== pod.metadata.uid) {
      throw conflict(
        { type: PODS, name },
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    if (at(pod, 'spec', 'serviceAccountName') !== account.metadata.name) {
      throw badRequest(
        `cannot bind token for serviceaccount "${account.metadata.name}" to pod running with different serviceaccount name.`,
      );
    }
    const nodeName = text(at(pod, 'spec', 'nodeName'));
    const node = nodeName === '' ? undefined : this.#core.store.get({ type: NODES, name: nodeName });
    return { pod: identity(pod), ...(node && { node: identity(node) }) };
  }

  /** A token is good only as long as its account and its pod are the ones it was made for. */
  #revoked({ namespace, serviceaccount, pod }: Claims['kubernetes.io']): string | undefined {
    const { store, clock } = this.#core;
    const account = store.get({ type: ACCOUNTS, namespace, name: serviceaccount.name });
    if (account?.metadata.uid !== serviceaccount.uid) return 'invalid bearer token, service account has been deleted';
    if (!pod) return undefined;
    const live = store.get({ type: PODS, namespace, name: pod.name });
    if (live?.metadata.uid !== pod.uid) return 'invalid bearer token, pod has been deleted';
    const { deletionTimestamp } = live.metadata;
    const ended = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + DELETED_POD_MS < clock.now();
    return ended ? 'invalid bearer token, pod has been deleted' : undefined;
  }

  #sign(claims: Claims): string {
    const signed = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`;
    return `${signed}.${this.#signature(signed)}`;
  }

  #verify(token: string): Claims | undefined {
    const [header, payload = '', signature = '', ...more] = token.split('.');
    const expected = Buffer.from(this.#signature(`${header}.${payload}`));
    const given = Buffer.from(signature);
    if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  }

  #signature(signed: string): string {
    return createHmac('sha256', this.#key).update(signed).digest('base64url');
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function identity({ metadata }: KubeJson): Identity {
  return { name: metadata.name, uid: metadata.uid };
}

function userOf({ sub, jti, 'kubernetes.io': { namespace, serviceaccount, pod, node } }: Claims): UserInfo {
  const extra = {
    'credential-id': `JTI=${jti}`,
    'node-name': node?.name,
    'node-uid': node?.uid,
    'pod-name': pod?.name,
    'pod-uid': pod?.uid,
  };
  const known = Object.entries(extra).flatMap(([key, value]) =>
    value === undefined ? [] : [[`authentication.kubernetes.io/${key}`, [value]] as const],
  );
  return {
    username: sub,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: Object.fromEntries(known),
  };
}

function tooShort({ name }: Ref, life: number): Error {
  const message = `Invalid value: ${life}: may not specify a duration less than 10 minutes`;
  const type = { ...ACCOUNTS, kind: 'TokenRequest', group: 'authentication.k8s.io' };
  return invalid({ type, name }, [{ reason: 'FieldValueInvalid', field: 'spec.expirationSeconds', message }]);
}
