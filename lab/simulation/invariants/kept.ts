import type { Instant } from '../types.ts';
import { isController, LEASE, leaseFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** Who has first written itself into the Lease under a name, and when. */
interface Holder {
  readonly process: string;
  readonly since: Instant;
}

/**
 * A leader keeps the Lease for as long as it runs, where nothing but an API server that turns away a share of what it is asked is in the way: each
 * term that is lost begins everything anew.
 */
export const kept: Rule = {
  name: 'kept',
  begin(picture) {
    const holders = new Map<string, Holder>();
    return ofWrites('leases', (write) => {
      if (write.name !== LEASE || !isController(write.by)) return NOTHING;
      const [last, made] = [holderIn(write.before), holderIn(write.after)];
      if (made === '' || made === last) return NOTHING;
      if (!holders.has(made)) holders.set(made, { process: write.by, since: write.at });
      const lost = holders.get(last);
      const isBreach = lost && picture.sight.isClear(write.at) && hasRun(picture, lost);
      return isBreach ? [`${write.by} took the Lease over from ${lost.process}, which runs`] : NOTHING;
    });
  },
};

const holderIn = (lease: Write['after']): string => (lease ? leaseFacts(lease).holder : '');

/** The next start in its place is another run. */
function hasRun({ processes }: Picture, { process, since }: Holder): boolean {
  const run = processes.get(process);
  return run !== undefined && run.runs && run.since < since;
}
