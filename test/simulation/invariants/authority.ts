import type { Instant } from '../types.ts';
import { isAgent, isApiserver, isOperator, shadowFacts, type StatusFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** What an agent sent before it ended may still land, or what a replica that stood still had of it then, milliseconds. */
const LANDS_WITHIN = 300_000;

/** What a status says of the node comes from that node: its boot, what its host has run, and an agent that is there. */
export const ownStatus: Rule = {
  name: 'own-status',
  begin(picture) {
    // By replica, when it last went on.
    const thawedAt = new Map<string, Instant>();
    return {
      see(entry) {
        if (entry.kind === 'fault' && entry.name === 'freeze' && entry.phase === 'ends')
          thawedAt.set(entry.about, entry.at);
        if (entry.kind !== 'write') return NOTHING;
        if (isAgent(entry.by)) return [`${entry.by} wrote ${entry.resource} ${entry.name} itself`];
        const isStatus = entry.resource === 'bottlerocketshadows' && isApiserver(entry.by);
        return isStatus ? foreign(picture, entry, thawedAt.get(entry.by) ?? -Infinity) : NOTHING;
      },
    };
  },
};

function foreign(picture: Picture, { at, before, after }: Write, thawedAt: Instant): readonly string[] {
  if (!before || !after) return NOTHING;
  const [old, { node, status }] = [shadowFacts(before).status, shadowFacts(after)];
  if (!status || JSON.stringify(old) === JSON.stringify(status)) return NOTHING;
  const isLate = at - thawedAt < LANDS_WITHIN;
  const ofOthers = ofAnotherHost(picture, node, { old, status });
  return isLate ? ofOthers : [...ofOthers, ...ofNobody(picture, node, { at, old, status })];
}

interface Change {
  readonly old: StatusFacts | undefined;
  readonly status: StatusFacts;
}

function ofAnotherHost(
  { hosts }: Picture,
  node: string,
  { old, status: { record, current } }: Change,
): readonly string[] {
  const host = hosts.get(node);
  if (!host) return NOTHING;
  if (record && record.boot !== old?.record?.boot && !host.boots.has(record.boot))
    return [`the status of ${node} names a boot of another host: ${record.boot}`];
  const isKnown = current === old?.current || host.versions.has(current);
  return isKnown ? NOTHING : [`the status of ${node} says that it runs ${current}, which it never did`];
}

/** The progress of a drain goes on for a moment without the agent that has asked for it. */
function ofNobody(
  picture: Picture,
  node: string,
  { at, old, status }: Change & { readonly at: Instant },
): readonly string[] {
  const { runs, since } = picture.agentOf(node);
  if (runs || at - since < LANDS_WITHIN || status.state === old?.state) return NOTHING;
  return [`the status of ${node} changed without its agent`];
}

const CONVERSION_DATA = 'brupop.bottlerocket.aws/conversion-data';
const SEEN_AS = 'example.com/seen-as';

/** C1: who writes a shadow back as v1 with all that he was given changes nothing that v1 has no field for. */
function lost({ by, name, before, after, subresource }: Write): readonly string[] {
  if (!before || !after || isOperator(by) || subresource !== undefined) return NOTHING;
  if (after.metadata.annotations?.[SEEN_AS] !== 'v1') return NOTHING;
  const [old, made] = [shadowFacts(before).status, shadowFacts(after).status];
  return JSON.stringify(old) === JSON.stringify(made)
    ? NOTHING
    : [`${name} was written as v1, and lost what v1 has no field for`];
}

/** C1, C2. */
export const conversion: Rule = {
  name: 'conversion',
  begin: () =>
    ofWrites('bottlerocketshadows', (write) =>
      write.after?.metadata.annotations?.[CONVERSION_DATA] === undefined
        ? lost(write)
        : [`${write.name} is stored as it is given out as v1`],
    ),
};

export const noFailures: Rule = {
  name: 'no-failures',
  begin: () => ({
    see: (entry) =>
      entry.kind === 'process' && entry.event === 'failed'
        ? [`${entry.process} failed: ${entry.why ?? 'no reason'}`]
        : NOTHING,
  }),
};
