import type { Disturbed } from '../../sim/cluster/cluster.ts';
import { MARKS_ANNOTATION, RELEASED_ANNOTATION } from '../../../runtime/api/marks/names.ts';
import { PLURAL, shadowName } from '../../../runtime/api/shadow/names.ts';
import { begun, type DrawnKind, HOUR, MINUTE, onNode, SECOND } from './kind.ts';
import { IN_UPDATE } from './machines.ts';

/** A write of the operator to a Node, by its annotations. People and kubelets are let through. */
const isOurs = (body: unknown): boolean => {
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly annotations?: object | null } };
  const annotations = metadata?.annotations ?? {};
  return MARKS_ANNOTATION in annotations || RELEASED_ANNOTATION in annotations;
};

const shadow = (node: string, subresource?: string): Disturbed => ({
  verbs: ['update', 'patch'],
  resource: PLURAL,
  name: shadowName(node),
  ...(subresource !== undefined && { subresource }),
});

/** One object that the API server refuses to write, or does not answer for, while all others go on. */
function refuses(name: string, what: string, disturbed: (node: string) => Disturbed): readonly DrawnKind[] {
  const terms = { weight: 1.5, aim: IN_UPDATE } as const;
  return [
    {
      ...terms,
      name: `${name}-refused`,
      what: `a policy refuses ${what} for good: 403`,
      lasts: [5 * SECOND, HOUR],
      begin: (world, begins) =>
        onNode(world, begins, (node) =>
          world.cluster.disturb(disturbed(node), {
            kind: 'refuse',
            code: 403,
            reason: 'Forbidden',
            message: 'a policy says no',
          }),
        ),
    },
    {
      ...terms,
      name: `${name}-hangs`,
      what: `a webhook lets ${what} hang; all of it lands when the webhook is back`,
      lasts: [3 * SECOND, 90 * SECOND],
      begin: (world, begins) =>
        onNode(world, begins, (node) => world.cluster.disturb(disturbed(node), { kind: 'hang' })),
    },
  ];
}

export const policyFaults: readonly DrawnKind[] = [
  ...refuses('spec', "each write of one shadow's spec", (node) => shadow(node)),
  ...refuses('status', "each write of one shadow's status", (node) => shadow(node, 'status')),
  ...refuses('node', "each of the operator's writes of one Node", (node) => ({
    verbs: ['update', 'patch'],
    resource: 'nodes',
    name: node,
    where: isOurs,
  })),
  {
    name: 'nodes-refused',
    what: "a policy refuses each of the operator's writes of every Node: 403",
    weight: 1.5,
    lasts: [5 * SECOND, 20 * MINUTE],
    aim: IN_UPDATE,
    begin: ({ cluster }) =>
      begun(
        'every Node',
        cluster.disturb(
          { verbs: ['update', 'patch'], resource: 'nodes', where: isOurs },
          { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'a policy says no' },
        ),
      ),
  },
];
