import type { Spec } from '../../../api/shadow/model.ts';
import { MINUTE_MS, rfc3339 } from '../../../lib/clock.ts';
import type { Ledgers } from '../facts/ledgers.ts';
import { ruledFrom } from '../facts/rulings.ts';
import type { Snapshot } from '../facts/snapshot.ts';
import type { AssessedNode } from './health.ts';

interface At {
  readonly snapshot: Pick<Snapshot, 'ruledSince'>;
  readonly ledgers: Pick<Ledgers, 'of'>;
  readonly now: number;
}

/** The spec that is written, with what the policy of its node says of its drain and its proof. */
export function withTerms(next: Spec | undefined, info: AssessedNode, at: At): Spec | undefined {
  const spec = withCapacity(next, info, at);
  if (spec?.state !== 'MonitoringUpdate') return spec;
  const until = comparedUntil(info, at);
  return until === undefined && info.shadow?.spec.compare_until == null
    ? spec
    : { ...spec, compare_until: until ?? null };
}

function withCapacity(next: Spec | undefined, info: AssessedNode, at: At): Spec | undefined {
  const isAsked = info.shadow?.spec.capacity != null;
  const waits = waitsForRoom(info, at);
  if (next && waits && next.state === 'RebootedIntoUpdate') return { ...next, capacity: 'wait' };
  if (next) return isAsked ? { ...next, capacity: null } : next;
  // It waits for room, which its policy no longer asks for.
  return isAsked && !waits && info.phase.kind === 'asked' ? { ...info.shadow.spec, capacity: null } : undefined;
}

/** A policy that has just come is not obeyed yet: it may be the one before, made anew. */
const waitsForRoom = ({ node, ruling }: AssessedNode, { snapshot, now }: At): boolean =>
  ruledFrom(snapshot, node.uid) > now || ruling.rules.waitsForRoom;

/** Other nodes may prove the release after this one. */
const LONGER_MS = 30 * MINUTE_MS;

/** Until when its pods are compared, RFC 3339: the release that it has come to run is to prove itself, and is given time for it. */
function comparedUntil({ node, shadow, ruling }: AssessedNode, { ledgers, now }: At): string | undefined {
  const { proof, soakMs, name = '' } = ruling.rules;
  const version = shadow?.spec.version;
  if (proof.soakMs === 0 || version == null) return undefined;
  const { provenAt } = ledgers.of({ family: node.family, version })?.ledger.policies[name] ?? {};
  return provenAt == null ? rfc3339(now + soakMs + proof.soakMs + LONGER_MS) : undefined;
}
