import type { ObjectReference } from '../../kube/objects.ts';
import type { Plan } from '../plan/plan.ts';
import { nameOf, releasePublished } from './events.ts';

/** Releases that nobody is offered yet, as their ledgers come to say that they are out: that is written once, whoever leads. */
export function newlyPublished({ ledger: writes }: Pick<Plan, 'ledger'>, lease: ObjectReference) {
  return writes.flatMap(({ family, version, seen, ledger }) => {
    if (ledger?.state !== 'Published' || seen?.ledger.published != null) return [];
    const of = nameOf({ family, version });
    const about = { family, version };
    const told = { event: releasePublished(lease, of), isRecorded: true, isRepeated: false, about };
    return { kind: 'published' as const, of, value: 'out', ...told };
  });
}
