import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealCluster } from './cluster.ts';
import { kubectl } from './kubectl.ts';

/** Writes that an admission policy of the cluster refuses to one user. */
export interface RefusedWrites {
  /** The policy's name, and the words of its refusals. */
  readonly name: string;
  readonly words: string;
  readonly user: string;
  /** Of the update. */
  readonly resource: { readonly group: string; readonly plural: string };
  /** CEL over the update; refused where it holds. @default each is */
  readonly where?: string;
}

/** Makes a ValidatingAdmissionPolicy, which is in force a moment later. @returns what takes it away */
export async function refuseWrites({ dir }: RealCluster, refused: RefusedWrites): Promise<() => Promise<unknown>> {
  const { name, words, user, resource, where = 'true' } = refused;
  const group = 'admissionregistration.k8s.io';
  const rule = {
    apiGroups: [resource.group],
    apiVersions: ['*'],
    operations: ['UPDATE'],
    resources: [resource.plural],
  };
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'user', expression: `request.userInfo.username == '${user}'` }],
    validations: [{ expression: `!(${where})`, message: words }],
  };
  const items = [
    { apiVersion: `${group}/v1`, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec },
    {
      apiVersion: `${group}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
  const file = join(dir, `${name}.json`);
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl('apply', '-f', file);
  return () => kubectl('delete', '-f', file);
}
