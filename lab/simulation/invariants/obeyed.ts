import type { Instant } from '../types.ts';
import { isController, isStart, shadowFacts, type ShadowFacts } from './facts.ts';
import { hintIn } from './hints.ts';
import { haltedByFailures } from './halted.ts';
import type { Picture } from './picture.ts';
import { ofWrites, NOTHING, type Rule, type Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';
import {
  failedLately,
  isBack,
  left,
  notWell,
  pinned,
  tooYoung,
  unapproved,
  unoffered,
  updatedLately,
  wanted,
  type Wish,
} from './versions-obeyed.ts';

/**
 * What people have said, what a Node says of itself, and a halt, is obeyed by each write by which a node begins its update, or its drain may, or it
 * is named what to prepare ahead, from the time on that its author must know (`Sight`).
 */
export const obeyed: Rule = {
  name: 'obeyed',
  begin: (picture) =>
    ofWrites('bottlerocketshadows', (write) => {
      const step = decidedIn(picture, write);
      if (!step) return NOTHING;
      const { node, what, wishes = WISHES } = step;
      return wishes.flatMap((wish) => {
        const found = wish(picture, node, write);
        const isKnown =
          found &&
          (isSeenLive(picture, step, { since: found.since, write }) ||
            picture.sight.mustKnow(found.since, write.sentAt));
        return isKnown ? [`${write.by} ${what} ${node.facts.name}, and ${found.what}`] : [];
      });
    }),
};

/** Before it gives a permit, a controller reads at the API server what people say: that takes no longer, milliseconds. */
const LOOKS_WITHIN = 90_000;

/** Whether it stood before the look; one that stood still since then goes on with what it has seen. */
function isSeenLive(
  { sight }: Picture,
  { what }: Step,
  { since, write: { by, sentAt } }: { readonly since: Instant; readonly write: Write },
): boolean {
  return what === STARTED && since + LOOKS_WITHIN <= Math.min(sentAt, sight.stoodStillFrom(by, sentAt));
}

const paused = ({ pausedAt }: Picture): Wish | undefined =>
  pausedAt === undefined ? undefined : { what: 'everything is paused', since: pausedAt };

const held = (_: Picture, { facts, heldAt }: SeenNode): Wish | undefined =>
  facts.held ? { what: 'it is held', since: heldAt } : undefined;

/** What forbids to disturb a node, and since when it does. */
const WISHES: readonly ((picture: Picture, node: SeenNode, write: Write) => Wish | undefined)[] = [
  paused,
  held,
  (picture, node, write) => (isBack(picture, node, write) ? undefined : notWell(picture, node)),
  (picture, node, write) => halted(picture, node, wanted(write)),
  (picture, node, write) => haltedByFailures(picture, node, wanted(write)),
  ruled,
  (picture, node, { sentAt, by }) => frozen(picture, node, sentAt, picture.sight.clockOf(by)),
  pinned,
  (_, __, write) => unoffered(write),
  (_, node, write) => left(node, write),
  unapproved,
  tooYoung,
  updatedLately,
  failedLately,
];

/** Whether people forbid that the node goes on to the version. */
export function isForbidden(picture: Picture, node: SeenNode, version: string, now: Instant): boolean {
  if (picture.pausedAt !== undefined || node.facts.held) return true;
  const wishes = [
    ruled(picture, node),
    halted(picture, node, version),
    frozen(picture, node, now, picture.sight.apartMs),
  ];
  return wishes.some((wish) => wish !== undefined);
}

/** People forbid the release. */
function halted(picture: Picture, node: SeenNode, version: string | undefined): Wish | undefined {
  const { facts } = node;
  const { name = '' } = picture.rulings.groupOf(facts) ?? {};
  const halt = [...picture.releases.values()].find(
    (one) => one.halted(name) && one.version === version && one.isOf(facts.family),
  );
  const since = Math.max(halt?.decidedAt ?? 0, picture.ruledAt(node));
  return halt && { what: `${version} is halted by a person`, since };
}

/** Nobody knows what holds, or the policy is paused. */
function ruled(picture: Picture, node: SeenNode): Wish | undefined {
  const since = picture.ruledAt(node);
  const ruling = picture.rulings.of(node.facts);
  if (ruling.kind === 'ruled') return ruling.by.paused ? { what: `${ruling.by.name} is paused`, since } : undefined;
  const names = ruling.names.join(', ');
  return { what: ruling.kind === 'broken' ? `${names} cannot be obeyed` : `${names} all rule it`, since };
}

/** Within as much as a controller's clock may have been off. */
function frozen(picture: Picture, node: SeenNode, now: Instant, slack: number): Wish | undefined {
  const group = picture.rulings.groupOf(node.facts);
  const freeze = group?.freezes.find(({ from, to }) => from + slack <= now && now < to - slack);
  if (!group || !freeze) return undefined;
  return { what: `${group.name} is frozen`, since: Math.max(freeze.from + slack, picture.ruledAt(node)) };
}

interface Step {
  readonly node: SeenNode;
  readonly what: string;
  /** What forbids it. @default whatever forbids to disturb a node */
  readonly wishes?: typeof WISHES;
}

const STARTED = 'started';

/** What a controller decides of a node by this write, for which it has to know what people and policies say. */
export const decidedIn = (picture: Picture, write: Write): Step | undefined =>
  stepIn(picture, write) ?? namedIn(picture, write) ?? wishedIn(picture, write);

/** The node that begins its update by this write, or whose drain may begin; undefined where neither is so. */
export function stepIn(picture: Picture, write: Write): Step | undefined {
  const { resource, by, before, after } = write;
  if (resource !== 'bottlerocketshadows' || !after || !isController(by)) return undefined;
  const shadow = shadowFacts(after);
  const node = picture.nodes.get(shadow.node);
  const what = stepOf(before && shadowFacts(before), shadow);
  return node && what && shadow.owners.includes(node.facts.uid) ? { node, what } : undefined;
}

/** The node that is named by this write what it is to prepare ahead (H2). */
function namedIn({ nodes }: Picture, write: Write): Step | undefined {
  const { node: name, owners } = (hintIn(write) !== undefined && write.after && shadowFacts(write.after)) || {};
  const node = name === undefined ? undefined : nodes.get(name);
  return node && owners?.includes(node.facts.uid) ? { node, what: 'named its update to' } : undefined;
}

/** The node that is at rest, and of whose host something else is wanted by this write (P12). */
function wishedIn(picture: Picture, { resource, by, before, after }: Write): Step | undefined {
  if (resource !== 'bottlerocketshadows' || !before || !after || !isController(by)) return undefined;
  const [old, made] = [shadowFacts(before), shadowFacts(after)];
  const node = picture.nodes.get(made.node);
  const isChanged = old.wish.lock !== made.wish.lock || old.wish.ignoresWaves !== made.wish.ignoresWaves;
  if (!node || !isChanged || !made.owners.includes(node.facts.uid)) return undefined;
  const underWay = old.active ? [() => ({ what: 'its update is under way', since: -Infinity })] : [];
  return { node, what: 'changed what is wanted of the host of', wishes: [paused, held, ruled, ...underWay] };
}

function stepOf(before: ShadowFacts | undefined, after: ShadowFacts): string | undefined {
  if (isStart(before, after)) return STARTED;
  const isDisturbed = before?.state === 'StagedAndPerformedUpdate' && after.state === 'RebootedIntoUpdate';
  return isDisturbed ? 'let the drain begin of' : undefined;
}
