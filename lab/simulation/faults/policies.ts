import type { Disturbed, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { MARKS_ANNOTATION, RELEASED_ANNOTATION } from '../../../runtime/api/marks/names.ts';
import { PLURAL, shadowName } from '../../../runtime/api/shadow/names.ts';
import { HOUR, MINUTE, SECOND } from '../units.ts';
import { begun, fault, type Kinds, onNode } from './kind.ts';

/** A write of the operator to a Node, by its annotations. People and kubelets are let through. */
const isOurs = (body: unknown): boolean => {
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly annotations?: object | null } };
  const annotations = metadata?.annotations ?? {};
  return MARKS_ANNOTATION in annotations || RELEASED_ANNOTATION in annotations;
};

const VERBS = ['update', 'patch'];
const REFUSED = { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'a policy says no' } as const;

/** A policy of the cluster says no to such writes, until what is returned is called. */
export const refuses = (cluster: EmbeddedCluster, disturbed: Disturbed): (() => void) =>
  cluster.disturb({ verbs: VERBS, ...disturbed }, REFUSED);

/** A webhook does not answer for them. */
export const hangs = (cluster: EmbeddedCluster, disturbed: Disturbed): (() => void) =>
  cluster.disturb({ verbs: VERBS, ...disturbed }, { kind: 'hang' });

/** One object that the API server refuses to write, or does not answer for, while all others go on. */
const stuck = (name: string, what: string, disturbed: (node: string) => Disturbed): Kinds => ({
  [`${name}-refused`]: fault(`a policy refuses ${what} for good: 403`, 1.5, [5 * SECOND, HOUR], (world, terms) =>
    onNode(world, terms, (node) => refuses(world.cluster, disturbed(node))),
  ),
  [`${name}-hangs`]: fault(
    `a webhook lets ${what} hang; all of it lands when the webhook is back`,
    1.5,
    [3 * SECOND, 90 * SECOND],
    (world, terms) => onNode(world, terms, (node) => hangs(world.cluster, disturbed(node))),
  ),
});

export const policyFaults: Kinds = {
  ...stuck('spec', "each write of one shadow's spec", (node) => ({ resource: PLURAL, name: shadowName(node) })),
  ...stuck('status', "each write of one shadow's status", (node) => ({
    resource: PLURAL,
    name: shadowName(node),
    subresource: 'status',
  })),
  ...stuck('node', "each of the operator's writes of one Node", (node) => ({
    resource: 'nodes',
    name: node,
    where: isOurs,
  })),
  'nodes-refused': fault(
    "a policy refuses each of the operator's writes of every Node: 403",
    1.5,
    [5 * SECOND, 20 * MINUTE],
    ({ cluster }) => begun('every Node', refuses(cluster, { resource: 'nodes', where: isOurs })),
  ),
};
