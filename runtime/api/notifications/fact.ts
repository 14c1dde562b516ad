import { shortened } from '../../lib/parts.ts';
import { TOLD } from '../../controller/plan/facts/reasons.ts';

/** The kinds of notifications, with the names of the controller's Events: verdicts that people are told of, and what becomes of releases. */
export const KINDS = [
  'RolloutStarted',
  'RolloutComplete',
  'RolloutHalted',
  'RolloutResumed',
  'UpdateFailed',
  ...TOLD,
  'AgentMissing',
  'NotAccepted',
  'ReleasePublished',
] as const;
export type Kind = (typeof KINDS)[number];

/** The kind of a test message. It passes every filter. */
export const TEST_KIND = 'Test';

/** A fact that has become true, and is sent as one message. */
export interface Fact {
  /** The same for the same fact, whichever process sends it and however often. */
  readonly id: string;
  readonly kind: Kind | typeof TEST_KIND;
  readonly severity: 'info' | 'warning';
  /** When a controller first saw it, RFC 3339. */
  readonly time: string;
  /** One sentence. */
  readonly message: string;
  readonly node?: string;
  /** Of several facts that are told as one; `node` is absent then. */
  readonly together?: Together;
  /** The policy that rules; absent where the controller's variables do. */
  readonly policy?: string;
  /** Variant and architecture. */
  readonly family?: string;
  readonly version?: string;
}

export interface Together {
  /** Nodes. */
  readonly count: number;
  /** The first of them. */
  readonly nodes: readonly string[];
  /** What is said of the very first. */
  readonly first: string;
}

/** Names that a message lists. */
const NAMED = 20;
/** Bytes, as of an Event. */
export const LONGEST_MESSAGE = 1024;

export const isOfNodes = ({ node, together }: Fact): boolean => node !== undefined || together !== undefined;

/** Both facts as one, where they are the same of different nodes; else undefined. @param one that nobody was sent yet */
export function joined(one: Fact, { node, ...other }: Fact): Fact | undefined {
  const alike = (['kind', 'severity', 'policy', 'family', 'version'] as const).every((key) => one[key] === other[key]);
  const { node: own, id, together, ...common } = one;
  const { nodes, count, first } = together ?? { nodes: own === undefined ? [] : [own], count: 1, first: one.message };
  if (!alike || node === undefined || nodes.length === 0 || nodes.includes(node)) return undefined;
  const all = { nodes: [...nodes, node].slice(0, NAMED), count: count + 1, first };
  return {
    ...common,
    // Facts come in one order, so the first and the number of them tell all of them.
    id: `${together ? id.slice(0, id.lastIndexOf('-')) : id}-${all.count}`,
    time: other.time,
    message: shortened(`${listed(all)}; ${nodes[0]}: ${first}`, LONGEST_MESSAGE),
    together: all,
  };
}

function listed({ nodes, count }: Together): string {
  return `${nodes.join(', ')}${count > nodes.length ? ` and ${count - nodes.length} more` : ''}`;
}

/** Which facts are sent to a target. */
export interface Filter {
  /** @default all */
  readonly kinds?: readonly Kind[] | undefined;
  /** Names of policies. Facts on nodes that no policy rules are then not sent. @default all */
  readonly policies?: readonly string[] | undefined;
}

export function passes({ kinds, policies }: Filter, { kind, policy }: Fact): boolean {
  if (kind === TEST_KIND) return true;
  if (kinds && !kinds.includes(kind)) return false;
  return !policies || (policy !== undefined && policies.includes(policy));
}

/** The object of a fact as a path: `node/a`, `policy/production`, `release/1.39.0`; or `200 nodes`; empty where the fact names none. */
export function subjectOf({ node, together, policy, version }: Fact): string {
  if (together) return `${together.count} nodes`;
  const [kind, name] = node ? ['node', node] : policy ? ['policy', policy] : ['release', version];
  return name === undefined ? '' : `${kind}/${name}`;
}
