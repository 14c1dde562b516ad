import { expect } from '@jest/globals';
import { rules } from '../../infra/rules.ts';
import { MissingPermissionError, NotFoundError } from '../../runtime/kube/errors.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { at } from '../../lab/sim/cluster/object.ts';
import { refusal } from '../kube/client.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** Somebody with the apiserver's own roles, no more. */
export interface Account {
  readonly transport: KubeTransport;
  /** Takes what is granted for the whole cluster back; once it is gone. */
  readonly withdraw: () => Promise<void>;
}

export interface Grant {
  /** The operator's. */
  readonly namespace: string;
  /** Of the account and its roles. */
  readonly name: string;
  /** A resource that the roles leave out. */
  readonly but?: string | undefined;
}

/** A transport that adds to `refusals` what its account's roles did not allow. */
export function noting(inner: KubeTransport, refusals: string[]): KubeTransport {
  const note = (error: unknown): void => {
    if (error instanceof MissingPermissionError) refusals.push(error.message);
  };
  return {
    request: (request) =>
      inner.request(request).catch((error: unknown) => {
        note(error);
        throw error;
      }),
    async *watch(watch) {
      try {
        yield* inner.watch(watch);
      } catch (error) {
        note(error);
        throw error;
      }
    },
  };
}

const RBAC = 'rbac.authorization.k8s.io';
const ROLES = `/apis/${RBAC}/v1`;

/** Resolves once the roles are in effect. */
export async function apiserverAccount(cluster: Contract, grant: Grant): Promise<Account> {
  const { admin } = cluster;
  const { namespace, name } = grant;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.create(accounts, { metadata: { name } });
  const clusterRole = `${namespace}-${name}`;
  await grantRoles(cluster, grant, clusterRole);
  const spec = { expirationSeconds: 3600 };
  const token = at(await admin.create(`${accounts}/${name}/token`, { spec }), 'status', 'token') as string;
  const client = cluster.as(token);
  await eventually(() => client.get('/api/v1/nodes'));
  const shadow = `${shadowsPath(namespace)}/none`;
  await eventually(() => expect(client.get(shadow)).rejects.toThrow(NotFoundError));
  return {
    transport: client.transport,
    withdraw: async () => {
      await admin.delete(`${ROLES}/clusterrolebindings/${clusterRole}`);
      await eventually(async () => expect(await refusal(client.get('/api/v1/nodes'))).toMatchObject({ code: 403 }));
    },
  };
}

async function grantRoles({ admin }: Contract, grant: Grant, clusterRole: string): Promise<void> {
  const { namespace, name, but } = grant;
  const { cluster, namespace: own } = rules('apiserver', namespace);
  const without = (granted: typeof own): object[] =>
    granted
      .map((rule) => ({ ...rule, resources: (rule.resources ?? []).filter((resource) => resource !== but) }))
      .filter(({ resources }) => resources.length > 0);
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const path = `${ROLES}/namespaces/${namespace}`;
  await admin.create(`${path}/roles`, { metadata: { name }, rules: without(own) });
  await admin.create(`${path}/rolebindings`, {
    metadata: { name },
    subjects,
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
  });
  // What is looked at to see that they are in effect comes last.
  await admin.create(`${ROLES}/clusterroles`, { metadata: { name: clusterRole }, rules: without(cluster) });
  await admin.create(`${ROLES}/clusterrolebindings`, {
    metadata: { name: clusterRole },
    subjects,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: clusterRole },
  });
}
