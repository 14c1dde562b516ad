import type { Node } from '../../kube/objects.ts';
import { VERSION } from '../../lib/version.ts';
import {
  FIRST_OPERATOR_KEYS,
  mirrorOf,
  OPERATOR_VERSION_KEY,
  UPDATE_AVAILABLE_KEY,
} from '../../api/shadow/first-operator.ts';
import { type Due, type NodeWriter, nodeWriter, type NodeWriterPorts } from './node-writer.ts';
import { mapNodes } from '../plan/nodes/join.ts';
import type { NodeView, ShadowView } from '../plan/facts/snapshot.ts';

interface NodeAnnotationWriterOptions extends NodeWriterPorts {
  /** False: what an earlier process of ours has written goes. */
  readonly isOn: boolean;
}

/** By key; undefined where there should be nothing of ours. */
type Mirror = Readonly<Record<string, string>> | undefined;

/** Shows in the first operator's annotations where updates are, for people and tools that look there. */
export function nodeAnnotationWriter(options: NodeAnnotationWriterOptions): NodeWriter {
  const { isOn, nodes } = options;
  return nodeWriter<Mirror>({
    ...options,
    what: 'annotations of the first operator',
    dueIn: ({ snapshot }) =>
      isOn
        ? mapNodes(snapshot, ({ node, shadow }) => dueOn(node, shadow)).flat()
        : snapshot.nodes.flatMap((node) => dueOn(node, undefined)),
    write: async (node, mirror, signal) => {
      if (!says(node.metadata, mirror)) await nodes.patch(node.metadata.name, patchOf(node, mirror), signal);
    },
  });
}

function dueOn(node: NodeView, shadow: ShadowView | undefined): readonly Due<Mirror>[] {
  const mirror = node.managed && shadow ? mirrorOf(shadow, VERSION) : undefined;
  // Without our version on it, the annotations are the first operator's, and are not taken away.
  if (!mirror && node.firstOperator?.[OPERATOR_VERSION_KEY] === undefined) return [];
  return says({ annotations: node.firstOperator, labels: node.labels }, mirror)
    ? []
    : [{ node: node.name, wanted: mirror }];
}

type Keyed = Readonly<Record<string, string>> | null | undefined;

function says(
  { annotations, labels }: { readonly annotations?: Keyed; readonly labels?: Keyed },
  mirror: Mirror,
): boolean {
  const isLabelled = labels?.[UPDATE_AVAILABLE_KEY] === mirror?.[UPDATE_AVAILABLE_KEY];
  return isLabelled && FIRST_OPERATOR_KEYS.every((key) => annotations?.[key] === mirror?.[key]);
}

function patchOf({ metadata: { resourceVersion } }: Node, mirror: Mirror) {
  const annotations = Object.fromEntries(FIRST_OPERATOR_KEYS.map((key) => [key, mirror?.[key] ?? null]));
  const labels = { [UPDATE_AVAILABLE_KEY]: mirror?.[UPDATE_AVAILABLE_KEY] ?? null };
  return { metadata: { resourceVersion, annotations, labels } };
}
