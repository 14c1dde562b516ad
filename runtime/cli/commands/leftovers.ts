import type { ControllerConfig } from '../../controller/config.ts';
import { LIFECYCLE_REASON } from '../../controller/writing/lifecycle-conditions.ts';
import { arrivingKeyOn } from '../../controller/plan/facts/arriving.ts';
import { isUnderWay } from '../../controller/plan/facts/phase.ts';
import type { NodeView, ShadowView, Snapshot } from '../../controller/plan/facts/snapshot.ts';
import { UNREADABLE } from '../../api/marks/marks.ts';
import { WAITING_TAINT } from '../../api/marks/taints.ts';
import type { Plan } from '../../controller/plan/plan.ts';
import { ACTION_KEYS, FIRST_OPERATOR_KEYS, OPERATOR_VERSION_KEY } from '../../api/shadow/first-operator.ts';
import type { Command } from '../command.ts';
import { inspect } from '../inspect.ts';
import { PLAIN, table } from '../output/terminal.ts';

/** Something that an update left on a node where no update runs. */
interface Leftover {
  readonly node: string;
  /** Who left it. `unknown`: a cordon without marks. `first operator`: v0.1 never removed what it wrote on Nodes. */
  readonly whose: 'ours' | 'unknown' | 'first operator';
  readonly what: string;
}

export const leftovers: Command = {
  name: 'leftovers',
  args: '',
  summary: 'list what is left on nodes where no update runs',
  details: `The second column says who left it:
  "ours"            listed in the operator's marks on the node, or a taint or lifecycle conditions that it does not keep up to date
  "unknown"         a cordon without marks: nobody can tell who made it
  "first operator"  written by v0.1`,
  options: {},
  maxArgs: 0,
  async run({ clock, connect }) {
    const found = leftoversIn(await inspect(await connect(), clock.now()));
    return { value: { leftovers: found }, lines: () => leftoverLines(found) };
  },
};

export const leftoverLines = (found: readonly Leftover[]): readonly string[] =>
  table(
    found.map(({ node, whose, what }) => [node, whose, what]),
    PLAIN,
  );

interface Seen {
  readonly config: LifecycleSetting;
  readonly snapshot: Pick<Snapshot, 'nodes' | 'shadows' | 'permits'>;
  readonly plan: Pick<Plan, 'preferences' | 'arrivals'>;
}

export function leftoversIn({ snapshot: { nodes, shadows, permits }, config, plan }: Seen): readonly Leftover[] {
  const byName = new Map(shadows.map((shadow) => [shadow.name, shadow]));
  const permitted = new Set(permits.map(({ nodeUid }) => nodeUid));
  const idle = nodes.filter((node) => !permitted.has(node.uid) && !isUpdating(node, byName.get(node.shadowName)));
  const over = new Set(plan.preferences.flatMap(({ node, isAvoided }) => (isAvoided ? [] : node)));
  const tainted = nodes.filter(({ name, bearsWaiting }) => bearsWaiting === true && over.has(name));
  return [
    ...idle.flatMap((node) => leftoverOn(node, config)),
    ...tainted.map(taintLeft),
    ...nodes.filter(({ name }) => plan.arrivals.includes(name)).map((node) => arrivalLeft(node, config)),
  ];
}

function arrivalLeft(view: NodeView, { ARRIVING_TAINT: arrivingTaint }: Seen['config']): Leftover {
  const { name: node } = view;
  const key = arrivingKeyOn(view, { arrivingTaint }) ?? arrivingTaint;
  const what = `taint ${key}: the controller takes it away, and so does kubectl taint node ${node} ${key}-`;
  return { node, whose: 'ours', what };
}

/** Its policy asks for it no more, or nothing is to come. */
const taintLeft = ({ name: node }: NodeView): Leftover => ({
  node,
  whose: 'ours',
  what: `taint ${WAITING_TAINT.key}: the controller takes it away, and so does cleanup`,
});

function isUpdating({ uid }: NodeView, shadow: ShadowView | undefined): boolean {
  return shadow !== undefined && shadow.owners.includes(uid) && isUnderWay(shadow);
}

/** @param noted the annotation `unreleased` */
export function howToUndo(noted: string): string {
  const newer = 'a newer version knows how to undo it';
  return noted.includes(UNREADABLE)
    ? 'marks could not be read: uncordon the node if nobody else has cordoned it'
    : newer;
}

function leftoverOn(view: NodeView, config: LifecycleSetting): readonly Leftover[] {
  const { name: node, marks, unreleased, managed, unschedulable } = view;
  const left: Leftover[] = [];
  if (marks) {
    const entries = [...marks.owns, ...(marks.unknown ?? [])];
    const since = marks.since === null ? '' : `, since ${marks.since}`;
    const what = `${entries.length > 0 ? entries.join(', ') : 'nothing but the marks'}${since}`;
    left.push({ node, whose: 'ours', what });
  }
  if (unreleased !== undefined) left.push({ node, whose: 'ours', what: `${unreleased}: ${howToUndo(unreleased)}` });
  if (!marks && managed && unschedulable)
    left.push({ node, whose: 'unknown', what: "cordoned without marks: an administrator's, or an older apiserver's" });
  return [...left, ...conditionsLeftOn(view, config), ...ofFirstOperator(view)];
}

/** Lifecycle conditions that the operator wrote and no longer keeps up to date. */
function conditionsLeftOn(
  { name: node, managed, lifecycle = [] }: NodeView,
  config: LifecycleSetting,
): readonly Leftover[] {
  const setting = config.NODE_LIFECYCLE_CONDITIONS;
  const ours = lifecycle.filter(({ reason }) => reason === LIFECYCLE_REASON).map(({ type }) => type);
  if (ours.length === 0 || (setting === 'written' && managed)) return [];
  const remedy = setting === 'none' ? 'with NODE_LIFECYCLE_CONDITIONS=removed the' : 'the';
  const what = `conditions ${ours.join(', ')}: ${remedy} controller takes them away`;
  return [{ node, whose: 'ours', what }];
}

type LifecycleSetting = Pick<ControllerConfig, 'NODE_LIFECYCLE_CONDITIONS' | 'ARRIVING_TAINT'>;

/** Only our operator writes the version annotation, so annotations without it are the first operator's. That one also set empty labels of these names. */
function ofFirstOperator({ name: node, labels, firstOperator }: NodeView): readonly Leftover[] {
  const isOurs = firstOperator?.[OPERATOR_VERSION_KEY] !== undefined;
  const annotations = isOurs ? [] : Object.keys(firstOperator ?? {});
  const known: readonly string[] = isOurs ? ACTION_KEYS : FIRST_OPERATOR_KEYS;
  const kept = known.filter((key) => labels[key] !== undefined);
  const what = [...annotations.map((key) => `annotation ${key}`), ...kept.map((key) => `label ${key}`)].join(', ');
  return what === '' ? [] : [{ node, whose: 'first operator', what }];
}
