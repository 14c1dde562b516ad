import type { HostEntry } from '../types.ts';
import { isController, shadowFacts, type ShadowFacts } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isTaken } from './seen-host.ts';

/**
 * H2: what is prepared ahead is named to nodes at rest, whose agents do so, and no more once the update begins. Each write is on what was read. H1: the
 * record of it goes before the next download. H3: an update says what it leads away from.
 */
export const hints: Rule = {
  name: 'hints',
  begin: (picture) => ({
    see: (entry) => {
      if (entry.kind === 'host') return writtenOver(picture, entry);
      if (entry.kind !== 'write' || entry.resource !== 'bottlerocketshadows') return NOTHING;
      return [...named(entry), ...unsaid(entry)];
    },
  }),
};

function named(write: Write): readonly string[] {
  const { by, before, after } = write;
  if (!before || !after) return NOTHING;
  const [old, made] = [shadowFacts(before), shadowFacts(after)];
  if (startIn(write) && made.hint !== undefined) return [`${made.node} starts, and is named ${made.hint} still`];
  if (hintIn(write) === undefined) return NOTHING;
  if (old.state !== 'Idle') return [`${by} names ${made.hint} to ${made.node}, which is not at rest`];
  return old.status?.prepares ? NOTHING : [`${by} names ${made.hint} to ${made.node}, which prepares nothing ahead`];
}

/** The older operator's agent knows of no record. */
function writtenOver(picture: Picture, { node, event }: HostEntry): readonly string[] {
  if (!isDownload(event) || picture.processes.get(`upstream-agent-${node}`)?.runs) return NOTHING;
  const facts = picture.nodes.get(node)?.facts;
  const ahead = facts && picture.shadowOf(facts)?.status?.ahead;
  return ahead === undefined
    ? NOTHING
    : [`the host of ${node} prepares an update, and ${ahead} is on record as prepared`];
}

const isDownload = (event: HostEntry['event']): boolean =>
  event.kind === 'call' && event.path === '/actions/prepare-update' && isTaken(event);

function unsaid(write: Write): readonly string[] {
  const { by, before, after } = write;
  if (!before || !after || !isController(by)) return NOTHING;
  const [old, made] = [shadowFacts(before), shadowFacts(after)];
  const begun = startIn(write) && old.status;
  if (!begun && made.finishedAt === old.finishedAt) return NOTHING;
  const [from, earlier] = [begun ? begun.current : made.from, cameFrom(old)];
  const said = `${made.from}, and ${made.versionBefore} before`;
  return said === `${from}, and ${earlier} before`
    ? NOTHING
    : [`${made.node} is said to have run ${said}, and it was ${from}, and ${earlier} before`];
}

/** What it ran before what it runs: the last update that began may have led to no other version. */
const cameFrom = ({ from, versionBefore, status }: ShadowFacts): string | undefined =>
  from === status?.current ? versionBefore : from;

/** The version that a controller names to a node by this write, so that it prepares it ahead. */
export function hintIn({ resource, by, before, after }: Write): string | undefined {
  if (resource !== 'bottlerocketshadows' || !before || !after || !isController(by)) return undefined;
  const { hint } = shadowFacts(after);
  return hint === shadowFacts(before).hint ? undefined : hint;
}
