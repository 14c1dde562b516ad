import type { Planned } from '../statements.ts';
import { isLetThrough, isUnderWay, phaseOf } from '../../plan/facts/phase.ts';

/** The nodes that an update disturbs, whose alerts are therefore expected. By UID of the node. */
export interface Disturbed {
  /** Names of the nodes whose drain begins with this plan, or has begun. */
  readonly begun: ReadonlyMap<string, string>;
  /** Those of them that are Ready and were not asked to reboot yet. */
  readonly draining: ReadonlySet<string>;
  /** UIDs of the nodes that are at rest, or gone. */
  isOver(uid: string): boolean;
}

export function disturbedBy({ plan, snapshot }: Pick<Planned, 'plan' | 'snapshot'>): Disturbed {
  const next = plan.commands.filter((command) => command.kind === 'set-spec');
  const beginning = new Set(next.flatMap(({ shadow, spec }) => (spec.state === 'RebootedIntoUpdate' ? shadow : [])));
  const active = snapshot.shadows.filter(isUnderWay);
  const shadows = new Map(active.map((shadow) => [shadow.name, shadow]));
  const begun = new Map<string, string>();
  const [busy, draining] = [new Set<string>(), new Set<string>()];
  if (shadows.size === 0) return { begun, draining, isOver: () => true };
  for (const node of snapshot.nodes) {
    const { name, uid, shadowName, ready } = node;
    const shadow = shadows.get(shadowName);
    if (!shadow?.owners.includes(uid)) continue;
    busy.add(uid);
    if (!beginning.has(shadowName) && !isLetThrough(phaseOf(shadow, node))) continue;
    begun.set(uid, name);
    const isDraining = shadow.spec.state !== 'MonitoringUpdate' && shadow.rebootAskedAt === undefined;
    if (isDraining && ready) draining.add(uid);
  }
  return { begun, draining, isOver: (uid) => !busy.has(uid) };
}
