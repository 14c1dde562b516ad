import { compareVersions, isController, isStart, shadowFacts, type ShadowFacts } from './facts.ts';
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
      picture.pausedAt !== undefined && picture.sight.mustKnow(picture.pausedAt, sentAt) ? 'under a pause' : undefined,
    ),
};

export const held: Rule = {
  name: 'held',
  begin: (picture) =>
    ofSteps(picture, ({ node: { facts, heldAt }, write: { sentAt } }) =>
      facts.held && picture.sight.mustKnow(heldAt, sentAt) ? 'although it is held' : undefined,
    ),
};

export const ready: Rule = {
  name: 'ready',
  begin: (picture) =>
    ofSteps(picture, ({ node: { facts, readyAt }, write: { sentAt } }) =>
      !facts.ready && picture.sight.mustKnow(readyAt, sentAt) ? 'although it is not Ready' : undefined,
    ),
};

export const managed: Rule = {
  name: 'managed',
  begin: (picture) =>
    ofSteps(picture, ({ kind, node: { facts, managedAt }, write: { sentAt } }) =>
      kind === 'start' && !facts.managed && picture.sight.mustKnow(managedAt, sentAt)
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
      if (!group || !picture.sight.mustKnow(picture.ruledAt(node), sentAt)) return undefined;
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
