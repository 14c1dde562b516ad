import type { Inspection } from '../../runtime/cli/inspect.ts';
import { NOW } from '../controller/plan/fleet.ts';

/** What a command knows of a cluster of which it may read all, and whose leader it has not asked. */
export const inspected = (known: Pick<Inspection, 'snapshot' | 'config' | 'plan'>): Inspection => ({
  ...known,
  policiesAt: () => known.snapshot.policies,
  keepers: () => () => [],
  goingBack: () => [],
  noLeader: undefined,
  permitsKnown: true,
  unknown: [],
  now: NOW,
});
