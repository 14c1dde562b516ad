import { isActive, type NodeView, type ShadowView, type Snapshot } from '../controller/plan/snapshot.ts';
import { ACTION_KEYS, FIRST_OPERATOR_KEYS, OPERATOR_VERSION_KEY } from '../shadow/first-operator.ts';
import type { Command } from './command.ts';
import { inspect } from './inspect.ts';
import { table } from './look.ts';

/** What is on a node where no update runs. */
export interface Leftover {
  readonly node: string;
  /** By the marks; of a cordon nobody can tell. What the first operator wrote on Nodes it never took away. */
  readonly whose: 'ours' | 'unknown' | 'first operator';
  readonly what: string;
}

export const leftovers: Command = {
  name: 'leftovers',
  takes: '',
  summary: 'list what is left on nodes where no update runs',
  details: `"ours" is what the operator's marks on the node say, "unknown" a cordon of which nobody can tell whose it is, "first
operator" what v0.1 wrote on Nodes.`,
  options: {},
  most: 0,
  async run({ clock, connect }) {
    const { snapshot } = await inspect(await connect(), clock.now());
    const found = leftoversIn(snapshot);
    return { value: found, lines: () => leftoverLines(found) };
  },
};

export const leftoverLines = (found: readonly Leftover[]): readonly string[] =>
  table(
    found.map(({ node, whose, what }) => [node, whose, what]),
    { columns: Infinity },
  );

export function leftoversIn({ nodes, shadows, slots }: Snapshot): readonly Leftover[] {
  const byName = new Map(shadows.map((shadow) => [shadow.name, shadow]));
  const slotted = new Set(slots.map(({ nodeUid }) => nodeUid));
  return nodes
    .filter((node) => !slotted.has(node.uid) && !isUpdating(node, byName.get(node.shadowName)))
    .flatMap(leftoverOn);
}

function isUpdating({ uid }: NodeView, shadow: ShadowView | undefined): boolean {
  return shadow !== undefined && shadow.owners.includes(uid) && isActive(shadow);
}

function leftoverOn(view: NodeView): readonly Leftover[] {
  const { name: node, marks, unreleased, managed, unschedulable } = view;
  const left: Leftover[] = [];
  if (marks) {
    const entries = [...marks.owns, ...(marks.unknown ?? [])];
    const since = marks.since === null ? '' : `, since ${marks.since}`;
    const what = `${entries.length > 0 ? entries.join(', ') : 'nothing but the marks'}${since}`;
    left.push({ node, whose: 'ours', what });
  }
  if (unreleased !== undefined)
    left.push({ node, whose: 'ours', what: `${unreleased}: a newer version knows how to undo it` });
  if (!marks && managed && unschedulable)
    left.push({ node, whose: 'unknown', what: "cordoned without marks: an administrator's, or an older apiserver's" });
  return [...left, ...ofFirstOperator(view)];
}

/** Our own are told by the version, which that operator never wrote. It gave the actions' names to labels as well, all of them empty. */
function ofFirstOperator({ name: node, labels, firstOperator }: NodeView): readonly Leftover[] {
  const isOurs = firstOperator?.[OPERATOR_VERSION_KEY] !== undefined;
  const annotations = isOurs ? [] : Object.keys(firstOperator ?? {});
  const known: readonly string[] = isOurs ? ACTION_KEYS : FIRST_OPERATOR_KEYS;
  const kept = known.filter((key) => labels[key] !== undefined);
  const what = [...annotations.map((key) => `annotation ${key}`), ...kept.map((key) => `label ${key}`)].join(', ');
  return what === '' ? [] : [{ node, whose: 'first operator', what }];
}
