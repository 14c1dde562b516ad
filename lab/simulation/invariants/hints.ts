import { isController, shadowFacts } from './facts.ts';
import { startIn } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** H2: what is prepared ahead is named to nodes at rest, whose agents do so, and no more once the update begins. Each write is on what was read. */
export const hints: Rule = {
  name: 'hints',
  begin: () =>
    ofWrites('bottlerocketshadows', (write) => {
      const { by, before, after } = write;
      if (!before || !after) return NOTHING;
      const [old, made] = [shadowFacts(before), shadowFacts(after)];
      if (startIn(write) && made.hint !== undefined) return [`${made.node} starts, and is named ${made.hint} still`];
      if (hintIn(write) === undefined) return NOTHING;
      if (old.state !== 'Idle') return [`${by} names ${made.hint} to ${made.node}, which is not at rest`];
      return old.status?.prepares
        ? NOTHING
        : [`${by} names ${made.hint} to ${made.node}, which prepares nothing ahead`];
    }),
};

/** The version that a controller names to a node by this write, so that it prepares it ahead. */
export function hintIn({ resource, by, before, after }: Write): string | undefined {
  if (resource !== 'bottlerocketshadows' || !before || !after || !isController(by)) return undefined;
  const { hint } = shadowFacts(after);
  return hint === shadowFacts(before).hint ? undefined : hint;
}
