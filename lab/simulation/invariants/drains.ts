import { BEGINS_AT, type Instant } from '../types.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { at, isOperator, podFacts, type PodFacts, shadowFacts } from './facts.ts';
import type { Picture, SeenPod } from './picture.ts';
import { clock, NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { isReboot } from './seen-host.ts';
import { nodesOf, proofSetBy, type SeenNode } from './seen-node.ts';

/** How old the list of pods behind a proof may be when the proof is written, milliseconds: as long as a request may take. */
const LISTED_WITHIN = 35_000;
/** After somebody uncordons a node in mid-drain another drain begins. How long the first may still act, milliseconds. */
const UNSETTLED = 900_000;

/** Times in marks are whole seconds. */
const ROUNDED_MS = 1000;

/** M3: a node's latest proof. */
interface Proof {
  readonly uid: string;
  readonly sentAt: Instant;
}

/** M3, M4, B1. */
export const drainedBeforeReboot: Rule = {
  name: 'drained-before-reboot',
  begin(picture) {
    const proofs = new Map<string, Proof>();
    return {
      see(entry) {
        if (entry.kind === 'write' && entry.resource === 'nodes') noteProof(proofs, entry);
        const isAsked = entry.kind === 'host' && isReboot(entry.event);
        return isAsked ? undrained(picture, proofs.get(entry.node), entry) : NOTHING;
      },
    };
  },
};

function noteProof(proofs: Map<string, Proof>, write: Write): void {
  const { name, sentAt, by } = write;
  const { made } = nodesOf(write);
  if (!made || (made.marks?.proof === undefined && isOperator(by))) proofs.delete(name);
  else if (proofSetBy(write) !== undefined) proofs.set(name, { uid: made.uid, sentAt });
}

function undrained(
  { nodes, pods, terms }: Picture,
  proof: Proof | undefined,
  { at: now, node: name }: { readonly at: Instant; readonly node: string },
): readonly string[] {
  const node = nodes.get(name);
  if (!node || interfered(node, now)) return NOTHING;
  if (proof?.uid !== node.facts.uid) return [`${name} was asked to reboot, and nothing proves that it is drained`];
  return [...pods.values()]
    .filter((pod) => pod.facts.node === name && pod.bound < proof.sentAt - LISTED_WITHIN && isToGo(pod, node))
    .filter(({ facts }) => !isStuck(facts, node, proof.sentAt - terms.stuckMs))
    .map(({ facts, bound }) => `${name} was asked to reboot under ${facts.key}, there since ${clock(bound)}`);
}

/** Somebody else has uncordoned the node, or has touched its marks. */
const interfered = ({ liftedAt, robbedAt }: SeenNode, now: Instant): boolean =>
  now - Math.max(liftedAt ?? -Infinity, robbedAt) < UNSETTLED;

/** The operator's own pods stay where nothing else could take them, which is not judged here. */
function isToGo({ facts, created }: SeenPod, { drainBegan }: SeenNode): boolean {
  if (!facts.drained || facts.own) return false;
  return !(facts.toleratesCordon && created > drainBegan - LISTED_WITHIN);
}

/** M3: should have ended by then, on a node that has been Ready since. Times of the API are whole seconds. */
function isStuck({ due }: PodFacts, { facts, readyAt }: SeenNode, by: Instant): boolean {
  const dueAt = due - BEGINS_AT;
  return facts.ready && readyAt - ROUNDED_MS <= dueAt && dueAt <= by + ROUNDED_MS;
}

/** B1. The older operator's agent knows of no records. */
export const recordBeforeReboot: Rule = {
  name: 'record-before-reboot',
  begin(picture) {
    // Boots for which a request to reboot was ever on record.
    const recorded = new Set<string>();
    return {
      see(entry) {
        if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') noteRecord(recorded, entry);
        return entry.kind === 'host' && isReboot(entry.event) ? unrecorded(picture, recorded, entry.node) : NOTHING;
      },
    };
  },
};

function noteRecord(recorded: Set<string>, { after }: Write): void {
  const record = after && shadowFacts(after).status?.record;
  if (record?.requested) recorded.add(record.boot);
}

function unrecorded({ hosts, processes }: Picture, recorded: ReadonlySet<string>, node: string): readonly string[] {
  const boot = [...(hosts.get(node)?.boots ?? [])].at(-1);
  if (boot === undefined || recorded.has(boot) || processes.has(`upstream-agent-${node}`)) return NOTHING;
  return [`${node} was asked to reboot, and no record says so`];
}

/** M9: volumes are waited for. The proof is a swap, so what it says is of the Node as it was before; no pod that stays has a volume here. */
export const volumes: Rule = {
  name: 'volumes',
  begin: (picture) =>
    ofWrites('nodes', (write) => {
      const { terms, sight } = picture;
      const { volumesInUse = [], marks } = nodesOf(write).old ?? {};
      const isProven = isOperator(write.by) && proofSetBy(write) !== undefined;
      if (terms.volumesMs === 0 || !isProven || volumesInUse.length === 0) return NOTHING;
      const waitedMs = BEGINS_AT + write.at - (marks?.volumesSince ?? NaN);
      if (waitedMs + sight.apartMs >= terms.volumesMs - ROUNDED_MS) return NOTHING;
      return [`${write.name} counts as drained with ${volumesInUse.join(', ')} in use, and nobody has waited for that`];
    }),
};

/** A pod leaves by the Eviction API, and where a budget speaks of it, that budget has been charged in the same step. */
export const budgets: Rule = {
  name: 'budgets',
  begin() {
    const present = new Map<string, Write>();
    let charged: Write | undefined;
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'poddisruptionbudgets') {
          present.set(keyOf(entry), entry);
          if (entry.subresource === 'eviction') charged = entry;
        }
        return entry.resource === 'pods' && isOperator(entry.by)
          ? unbudgeted(entry, [...present.values()], charged)
          : NOTHING;
      },
    };
  },
};

function unbudgeted(write: Write, present: readonly Write[], charged: Write | undefined): readonly string[] {
  if (write.subresource !== 'eviction') return [`${write.by} wrote to the pod ${keyOf(write)}, and did not evict it`];
  const budget = present.find((one) => speaksOf(one, write));
  if (!budget || !write.before || !serves(write.before) || allows(budget, charged, write)) return NOTHING;
  return [`${keyOf(write)} was evicted, and the budget ${keyOf(budget)} did not allow it`];
}

const keyOf = ({ namespace = '', name }: Write): string => `${namespace}/${name}`;

const serves = (pod: KubeObject): boolean => podFacts(pod).ready && Number.isNaN(podFacts(pod).due);

function allows(budget: Write, charged: Write | undefined, { at: now }: Write): boolean {
  if (!charged || charged.at !== now || keyOf(budget) !== keyOf(charged)) return false;
  return Number(at(charged.before, 'status', 'disruptionsAllowed')) > 0;
}

function speaksOf({ namespace, after: budget }: Write, { namespace: within, before }: Write): boolean {
  const labels = before?.metadata.labels ?? {};
  const wanted = Object.entries((at(budget, 'spec', 'selector', 'matchLabels') ?? {}) as Record<string, string>);
  return namespace === within && wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
