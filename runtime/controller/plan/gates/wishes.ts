import { neverStarts } from '../facts/node.ts';
import type { PublishedReleases } from '../../../api/release/model.ts';
import type { SetWish } from '../facts/commands.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import { RULED_FOR_MS } from '../facts/rulings.ts';
import { isSameWish, KnownVersions, wishFor } from '../groups/wishes.ts';
import { givingUp, wayFrom } from '../groups/way-back.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { World } from './asking.ts';
import type { Starts } from './starts.ts';

/** What is to be wanted of hosts from now on (rule P12). */
interface Wishes {
  readonly commands: readonly SetWish[];
  /** When time alone adds to them. */
  readonly changesAt: number;
}

const NONE: Wishes = { commands: [], changesAt: NEVER };

type Known = World & { readonly published: PublishedReleases | undefined };

/** Nothing changes for a host whose update is under way or starts, nor where nobody knows what is wanted. @param managed nodes of the fleet */
export function wishesFor(managed: readonly AssessedNode[], { nodes }: Pick<Starts, 'nodes'>, world: Known): Wishes {
  const { snapshot, rulings, ledgers, groups, now, published } = world;
  if (snapshot.paused || snapshot.notCurrent !== undefined || rulings.unknown) return NONE;
  const known = new KnownVersions(ledgers, groups, published);
  const starting = new Set(nodes.map(({ node }) => node.uid));
  const changes = managed.map((info) => changeFor(info, known, groups)).filter((change) => change !== undefined);
  const changing = changes.filter(({ nodeUid }) => !starting.has(nodeUid));
  const dueAt = ({ nodeUid }: Change): number => (snapshot.ruledSince?.get(nodeUid) ?? -Infinity) + RULED_FOR_MS;
  return {
    commands: changing.flatMap((one) => (dueAt(one) > now ? [] : one.command)),
    changesAt: nextAfter(now, changing.map(dueAt)),
  };
}

interface Change {
  readonly nodeUid: string;
  readonly command: SetWish;
}

function changeFor(info: AssessedNode, known: KnownVersions, groups: World['groups']): Change | undefined {
  if (!mayChange(info)) return undefined;
  const { name, resourceVersion, spec } = info.shadow;
  const way = wayFrom(info, groups.of(info));
  const wish = wishFor(info, known, way?.to) ?? null;
  if (isSameWish(wish, spec.version_wish)) return undefined;
  const annotations = givingUp(info, way);
  const command = {
    kind: 'set-wish',
    shadow: name,
    resourceVersion,
    wish,
    ...(annotations && { annotations }),
  } as const;
  return { nodeUid: info.node.uid, command };
}

type WithShadow = AssessedNode & { readonly shadow: NonNullable<AssessedNode['shadow']> };

/** It is at rest, and people have not decided that it stays as it is. */
function mayChange(info: AssessedNode): info is WithShadow {
  const { isSettled, ruling } = info;
  return !ruling.against && !ruling.rules.paused && (isSettled || isAtRest(info));
}

function isAtRest({ node, shadow, phase, permit }: AssessedNode): boolean {
  if (!shadow?.status || shadow.stale) return false;
  return phase.kind === 'resting' && shadow.spec.state === 'Idle' && !permit && !node.marks && !neverStarts(node);
}
