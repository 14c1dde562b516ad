import { TOLD } from '../../controller/plan/facts/reasons.ts';

/** The kinds of notifications, with the names of the controller's Events: verdicts that people are told of, and what becomes of releases. */
export const KINDS = [
  'RolloutStarted',
  'RolloutComplete',
  'RolloutHalted',
  'RolloutResumed',
  'UpdateFailed',
  ...TOLD,
  'NotAccepted',
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
  /** The policy that rules; absent where the controller's variables do. */
  readonly policy?: string;
  /** Variant and architecture. */
  readonly family?: string;
  readonly version?: string;
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

/** The object of a fact as a path: `node/a`, `policy/production`, `release/1.39.0`; empty where the fact names none. */
export function subjectOf({ node, policy, version }: Fact): string {
  const [kind, name] = node ? ['node', node] : policy ? ['policy', policy] : ['release', version];
  return name === undefined ? '' : `${kind}/${name}`;
}
