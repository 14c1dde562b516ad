import { labelOf, meets, selects } from '../lib/selector.ts';
import { isReady, type Node, type Pod, type Toleration } from '../kube/objects.ts';
import { type Amounts, amountsOf, requestsOf } from './requests.ts';

/** What a pod asks of the node that it goes to. What it does not say is left out: a drain holds this of each pod. */
export interface PodNeeds {
  readonly requests: Amounts;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Terms of its required node affinity, of which one has to hold. */
  readonly affinity?: readonly NodeTerm[];
  readonly tolerations?: readonly Toleration[];
}

interface NodeTerm {
  readonly matchExpressions?: readonly NodeRequirement[] | null;
  readonly matchFields?: readonly NodeRequirement[] | null;
}

interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

/** Undefined for a pod that asks for nothing: it fits everywhere. */
export function needsOf(pod: Pod): PodNeeds | undefined {
  const asked = Object.entries(requestsOf(pod)).filter(([, amount]) => amount > 0);
  if (asked.length === 0) return undefined;
  const { nodeSelector, tolerations } = pod.spec ?? {};
  const terms = termsOf(pod);
  const own = tolerations?.filter(({ key }) => !OF_EVERY_POD.has(key ?? '')) ?? [];
  return {
    requests: Object.fromEntries(asked),
    ...(nodeSelector && { nodeSelector }),
    ...(terms.length > 0 && { affinity: terms }),
    ...(own.length > 0 && { tolerations: own }),
  };
}

const termsOf = ({ spec }: Pod): readonly NodeTerm[] =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];

/** These taints are on no node that takes pods. */
const OF_EVERY_POD = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);

/** A node that pods may go to. */
export interface Candidate {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Amounts;
}

interface Taint {
  readonly key: string;
  readonly value?: string | null | undefined;
  readonly effect: string;
}

/** Undefined for a node that takes no pods now. */
export function candidateOf({ metadata, spec, status }: Node): Candidate | undefined {
  const takesPods = isReady({ status: status ?? {} }) && spec?.unschedulable !== true;
  if (!takesPods || metadata.deletionTimestamp != null) return undefined;
  const taints = (spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  return { name: metadata.name, labels: metadata.labels ?? {}, taints, allocatable: amountsOf(status?.allocatable) };
}

/** Whether the scheduler would let a pod onto the node, were there room. */
export const matches = ({ nodeSelector = {}, affinity, tolerations = [] }: PodNeeds, node: Candidate): boolean =>
  selects({ matchLabels: nodeSelector }, node.labels) &&
  (affinity === undefined || affinity.some((term) => holds(term, node))) &&
  node.taints.every((taint) => tolerations.some((one) => tolerates(one, taint)));

/** A term without any requirement holds nowhere. */
function holds({ matchExpressions, matchFields }: NodeTerm, { labels, name }: Candidate): boolean {
  const [expressions, fields] = [matchExpressions ?? [], matchFields ?? []];
  if (expressions.length + fields.length === 0) return false;
  const hasField = ({ key, ...one }: NodeRequirement): boolean =>
    satisfies({ key, ...one }, key === 'metadata.name' ? name : undefined);
  return expressions.every((one) => satisfies(one, labelOf(labels, one.key))) && fields.every(hasField);
}

/** What only node affinity has besides. An operator that nobody knows holds: it is no reason to say that there is no room. */
function satisfies(one: NodeRequirement, value: string | undefined): boolean {
  const bound = Number(one.values?.[0]);
  if (one.operator === 'Gt') return Number(value) > bound;
  if (one.operator === 'Lt') return Number(value) < bound;
  return meets(one, value) ?? true;
}

/** As the scheduler has it. */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || (Boolean(key) && (value ?? '') === (taint.value ?? ''));
}
