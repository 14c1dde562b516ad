import { MINUTE_MS, rfc3339 } from '../../../lib/clock.ts';
import type { Ledgers } from '../facts/ledgers.ts';
import type { Terms } from '../facts/machine.ts';
import { ruledFrom } from '../facts/rulings.ts';
import type { Snapshot } from '../facts/snapshot.ts';
import type { AssessedNode } from './health.ts';

interface At {
  readonly snapshot: Pick<Snapshot, 'ruledSince'>;
  readonly ledgers: Pick<Ledgers, 'of'>;
  readonly now: number;
}

/** What its policy says of its drain and its proof. A policy that has just come is not obeyed yet: it may be the one before, made anew. */
export function termsFor(info: AssessedNode, { snapshot, ledgers, now }: At): Terms {
  const { node, ruling } = info;
  const isNewlyRuled = ruledFrom(snapshot, node.uid) > now;
  return { waitsForRoom: isNewlyRuled || ruling.rules.waitsForRoom, comparedUntil: comparedUntil(info, ledgers, now) };
}

/** Other nodes may prove the release after this one. */
const LONGER_MS = 30 * MINUTE_MS;

/** The release that it has come to run is to prove itself, and is given time for it. */
function comparedUntil(
  { node, shadow, ruling }: AssessedNode,
  ledgers: Pick<Ledgers, 'of'>,
  now: number,
): string | undefined {
  const { proof, soakMs, name = '' } = ruling.rules;
  const version = shadow?.spec.version;
  if (proof.soakMs === 0 || version == null) return undefined;
  const { provenAt } = ledgers.of({ family: node.family, version })?.ledger.policies[name] ?? {};
  return provenAt == null ? rfc3339(now + soakMs + proof.soakMs + LONGER_MS) : undefined;
}
