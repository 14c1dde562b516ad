import { POLICIES_PATH } from '../runtime/api/resources.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../runtime/api/policy/names.ts';
import { policyCrd } from './policy-crd.ts';

/** A policy as somebody writes it. */
export const policyNamed = (name: string, spec: object) => ({
  apiVersion: POLICY_API_VERSION,
  kind: POLICY_KIND,
  metadata: { name },
  spec,
});

interface Cluster {
  create(path: string, body: object): Promise<unknown>;
}

/** Brings the kind to a cluster, and policies by their names. @param schema @default ours */
export async function definePolicies(
  cluster: Cluster,
  policies: Readonly<Record<string, object>>,
  schema?: object,
): Promise<void> {
  await cluster.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', policyCrd(schema));
  for (const [name, spec] of Object.entries(policies)) await cluster.create(POLICIES_PATH, policyNamed(name, spec));
}
