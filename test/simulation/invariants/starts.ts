import {
  compareVersions,
  isController,
  isOperator,
  isStart,
  leaseFacts,
  shadowFacts,
  type ShadowFacts,
} from './facts.ts';
import type { Picture } from './picture.ts';
import type { SeenNode } from './seen-node.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';

const MINUTE = 60_000;

/** A write of spec by which a node begins, or goes on to be disturbed. */
export interface Step {
  readonly kind: 'start' | 'disturb';
  readonly write: Write;
  readonly shadow: ShadowFacts;
  readonly node: SeenNode;
}

/** Judges the steps of nodes that are known. */
export function ofSteps(picture: Picture, judge: (step: Step) => string | undefined) {
  return ofWrites('bottlerocketshadows', (write) => {
    if (!write.after || !isController(write.by)) return NOTHING;
    const shadow = shadowFacts(write.after);
    const before = write.before && shadowFacts(write.before);
    const node = picture.nodes.get(shadow.node);
    const kind = kindOf(before, shadow);
    if (!kind || !node || !shadow.owners.includes(node.facts.uid)) return NOTHING;
    const breach = judge({ kind, write, shadow, node });
    return breach === undefined ? NOTHING : [`${write.by} ${SAID[kind]} ${shadow.node} ${breach}`];
  });
}

const SAID = { start: 'started', disturb: 'let the drain begin of' } as const;

function kindOf(before: ShadowFacts | undefined, after: ShadowFacts): Step['kind'] | undefined {
  if (isStart(before, after)) return 'start';
  return before?.state === 'StagedAndPerformedUpdate' && after.state === 'RebootedIntoUpdate' ? 'disturb' : undefined;
}

export const paused: Rule = {
  name: 'paused',
  begin: (picture) =>
    ofSteps(picture, ({ write: { sentAt } }) =>
      picture.pausedAt !== undefined && picture.sight.known(picture.pausedAt, sentAt) ? 'under a pause' : undefined,
    ),
};

export const held: Rule = {
  name: 'held',
  begin: (picture) =>
    ofSteps(picture, ({ node: { facts, heldAt }, write: { sentAt } }) =>
      facts.held && picture.sight.known(heldAt, sentAt) ? 'although it is held' : undefined,
    ),
};

export const ready: Rule = {
  name: 'ready',
  begin: (picture) =>
    ofSteps(picture, ({ node: { facts, readyAt }, write: { sentAt } }) =>
      !facts.ready && picture.sight.known(readyAt, sentAt) ? 'although it is not Ready' : undefined,
    ),
};

export const managed: Rule = {
  name: 'managed',
  begin: (picture) =>
    ofSteps(picture, ({ kind, node: { facts, managedAt }, write: { sentAt } }) =>
      kind === 'start' && !facts.managed && picture.sight.known(managedAt, sentAt)
        ? 'although it is not managed'
        : undefined,
    ),
};

/** Within as much as a controller's clock may have been off. */
export const windows: Rule = {
  name: 'windows',
  begin: (picture) =>
    ofSteps(picture, ({ kind, node, write: { sentAt, by } }) => {
      if (kind !== 'start') return undefined;
      const group = picture.rulings.groupOf(node.facts);
      if (!group || !picture.sight.known(picture.ruledAt(node), sentAt)) return undefined;
      const slack = SEEN_AFTER + picture.sight.clockOf(by);
      for (let instant = sentAt - slack; instant <= sentAt + slack; instant += MINUTE / 2) {
        if (group.window(instant)) return undefined;
      }
      return 'outside of the window';
    }),
};

/** A host is only ever taken to what it is offered, and that is newer than what it runs. */
export const offered: Rule = {
  name: 'offered',
  begin: (picture) =>
    ofSteps(picture, ({ kind, shadow: { status, version } }) => {
      if (kind !== 'start') return undefined;
      if (version === undefined || status?.target !== version)
        return `on ${version}, and its host is offered ${status?.target}`;
      return compareVersions(version, status.current) === 0 ? `on ${version}, which it runs` : undefined;
    }),
};

/** L5: the list of slots is written by its holder alone, whose name is new for each start of a process, and spec by a controller. */
export const leadership: Rule = {
  name: 'leadership',
  begin: () => {
    const identities = new Map<string, string>();
    // Names under which processes of before have held the Lease.
    const former = new Set<string>();
    const startedAt = new Map<string, number>();
    return {
      see(entry) {
        if (entry.kind === 'process' && entry.event === 'starts') {
          former.add(identities.get(entry.process) ?? '');
          identities.delete(entry.process);
          startedAt.set(entry.process, entry.at);
        }
        if (entry.kind !== 'write' || !isOperator(entry.by)) return NOTHING;
        if (entry.resource === 'bottlerocketshadows') return foreignSpec(entry);
        return entry.resource === 'leases' && entry.name === 'brupop-controller'
          ? [...formerHolder(entry, former, startedAt.get(entry.by) ?? 0), ...foreignList(entry, identities)]
          : NOTHING;
      },
    };
  },
};

function foreignSpec({ by, name, before, after }: Write): readonly string[] {
  if (isController(by) || !after) return NOTHING;
  const [old, made] = [before && shadowFacts(before), shadowFacts(after)];
  const isSame = old ? old.state === made.state && old.version === made.version : made.state === 'Idle';
  return isSame ? NOTHING : [`${by} wrote the spec of ${name}`];
}

/** What an earlier process has sent may still land. */
function formerHolder({ by, sentAt, after }: Write, former: ReadonlySet<string>, startedAt: number): readonly string[] {
  const holder = after && leaseFacts(after).holder;
  return holder && former.has(holder) && sentAt > startedAt
    ? [`${by} holds the Lease under the name of an earlier process`]
    : NOTHING;
}

function foreignList({ by, before, after }: Write, identities: Map<string, string>): readonly string[] {
  if (!after || !before) return NOTHING;
  const [old, made] = [leaseFacts(before), leaseFacts(after)];
  const isTakeover = made.holder !== old.holder && made.holder !== '';
  if (isTakeover) identities.set(by, made.holder);
  if (old.slotsText === made.slotsText) return NOTHING;
  if (isTakeover) return [`${by} took the Lease over and changed the slots`];
  const identity = identities.get(by);
  return identity === undefined || identity === made.holder
    ? NOTHING
    : [`${by} changed the slots under the Lease of ${made.holder}`];
}
