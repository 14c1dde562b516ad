import { isOperator } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isReboot } from './seen-host.ts';
import { nodesOf } from './seen-node.ts';

/**
 * L1 to L4, as far as the world shows them: an update begins, a node is marked and a host is asked to reboot only while the Lease names the node.
 * Of an update that an older operator began nobody has written that.
 */
export const permits: Rule = {
  name: 'permits',
  begin: (picture) => ({
    see(entry) {
      if (entry.kind === 'host') return isReboot(entry.event) ? unpermitted(picture, entry.node) : NOTHING;
      if (entry.kind !== 'write') return NOTHING;
      const name = startIn(entry)?.node ?? markedIn(entry);
      return name === undefined ? NOTHING : unpermitted(picture, name);
    },
  }),
};

/** The node that is marked by this write, and was not. */
function markedIn(write: Write): string | undefined {
  const { old, made } = write.resource === 'nodes' ? nodesOf(write) : {};
  return old && !old.marks && made?.marks && isOperator(write.by) ? made.name : undefined;
}

function unpermitted({ nodes, lease, inherited }: Picture, name: string): readonly string[] {
  const node = nodes.get(name);
  if (!node || inherited.has(name)) return NOTHING;
  const isNamed = lease.permits.some(({ nodeUid }) => nodeUid === node.facts.uid);
  return isNamed ? NOTHING : [`${name} is updated, and the Lease does not name it`];
}
