import { UNRELEASED_ANNOTATION } from '../../api/marks/names.ts';
import { askedIn } from '../../api/shadow/asked.ts';
import { FIRST_OPERATOR_KEYS } from '../../api/shadow/first-operator.ts';
import {
  ADOPTED_ANNOTATION,
  HOLD_ANNOTATION,
  MANAGED_LABEL,
  MANAGED_LABEL_V1,
  MANAGED_LABEL_VALUE,
  RETRY_ANNOTATION,
  UPDATE_NOW_ANNOTATION,
} from '../../api/shadow/names.ts';
import type { Node } from '../../kube/objects.ts';
import { shortened } from '../../lib/parts.ts';
import type { NodeView } from '../plan/facts/snapshot.ts';

/** By a node's labels. */
export type IsManaged = (labels: Readonly<Record<string, string>>) => boolean;

/** Which nodes are managed besides those with Bottlerocket's API: those of each other driver that is on. */
export function managedBesides(
  { INTERFACE_V1: isOn }: { readonly INTERFACE_V1: boolean },
  orders?: { readonly manages: IsManaged },
): IsManaged {
  return (labels) => (isOn && labels[MANAGED_LABEL] === MANAGED_LABEL_V1) || (orders?.manages(labels) ?? false);
}

type Decided = Pick<
  NodeView,
  'managed' | 'joinable' | 'held' | 'heldBy' | 'askedBy' | 'retryOf' | 'unreleased' | 'firstOperator'
>;

/** What people have decided on the node, by labels and annotations. */
export function decidedOn(node: Node, isOther: IsManaged): Decided {
  const { labels, annotations: stated } = node.metadata;
  const annotations = stated ?? {};
  return {
    managed: labels?.[MANAGED_LABEL] === MANAGED_LABEL_VALUE || isOther(labels ?? {}),
    joinable: annotations[ADOPTED_ANNOTATION] === undefined && isBottlerocket(node),
    held: annotations[HOLD_ANNOTATION] !== undefined,
    heldBy: askedIn(annotations[HOLD_ANNOTATION]),
    askedBy: askerOf(annotations[UPDATE_NOW_ANNOTATION]),
    retryOf: annotations[RETRY_ANNOTATION],
    unreleased: annotations[UNRELEASED_ANNOTATION],
    firstOperator: firstOperatorOn(annotations),
  };
}

function firstOperatorOn(annotations: Node['metadata']['annotations']): NodeView['firstOperator'] {
  const said = FIRST_OPERATOR_KEYS.flatMap((key) => {
    const value = annotations?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** Bytes of a name that goes into Events: anybody may write an annotation of any length. */
const LONGEST_ASKER = 128;

function askerOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : shortened(text.trim() || 'somebody', LONGEST_ASKER);
}

function isBottlerocket({ status }: Node): boolean {
  return status?.nodeInfo?.osImage?.startsWith('Bottlerocket OS ') === true;
}
