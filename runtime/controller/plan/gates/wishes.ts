import { neverStarts } from '../facts/node.ts';
import type { VersionWish } from '../../../api/shadow/model.ts';
import { compareSemver, newerOf } from '../../../api/shadow/semver.ts';
import type { SetWish } from '../facts/commands.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import { ruledFrom } from '../facts/rulings.ts';
import { givingUp, wayFrom } from '../groups/way-back.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import { isKnown, type World } from './asking.ts';
import type { Starts } from './starts.ts';

/** What is to be wanted of hosts from now on (rule P12). */
interface Wishes {
  readonly commands: readonly SetWish[];
  readonly changesAt: number;
}

const NONE: Wishes = { commands: [], changesAt: NEVER };

/** Nothing changes for a host whose update is under way or starts, nor where nobody knows what is wanted. */
export function wishesFor(
  { alike }: Pick<Fleet, 'alike'>,
  { starting }: Pick<Starts, 'starting'>,
  world: World,
): Wishes {
  const { snapshot, groups, now } = world;
  if (snapshot.paused || !isKnown(world)) return NONE;
  const known = new KnownVersions(world);
  const changeOf = (info: AssessedNode): Change | undefined => changeFor(info, known, groups);
  // Of one kind all are to be changed, or none.
  const those = alike.filter(([one]) => one && changeOf(one)).flat();
  const due = those.toSorted((a, b) => a.at - b.at);
  const changing = due.flatMap((one) => (starting.has(one) ? [] : (changeOf(one) ?? [])));
  const dueAt = ({ nodeUid }: Change): number => ruledFrom(snapshot, nodeUid);
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

/** Which versions of a family there are: those that its repositories list, or where these are not read, those that anybody knows of. */
class KnownVersions {
  readonly #world: World;
  readonly #newest = new Map<string, string | undefined>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Undefined where none is known. */
  newestUpTo(max: string, family: string): string | undefined {
    const key = `${family} ${max}`;
    if (this.#newest.has(key)) return this.#newest.get(key);
    const fitting = this.#of(family).filter((version) => compareSemver(version, max) <= 0);
    const newest = fitting.length > 0 ? fitting.reduce(newerOf) : undefined;
    this.#newest.set(key, newest);
    return newest;
  }

  #of(family: string): readonly string[] {
    const { snapshot, ledgers, groups } = this.#world;
    const listed = snapshot.releases.published?.get(family);
    if (listed) return [...listed.keys()];
    const own = [...ledgers.own].filter((one) => one.family === family);
    return [...own.map(({ version }) => version), ...groups.families.versionsOf(family)];
  }
}

/** What the policy of the node wants of its host's settings; undefined for nothing. @param back where it is to go back to. A host that is ordered its version has no such settings. */
function wishFor(info: AssessedNode, known: KnownVersions, back?: string): VersionWish | undefined {
  const { exact, max, ignoreWaves } = info.ruling.rules.version;
  if (info.shadow?.order) return undefined;
  const lock = exact ?? back ?? (max === undefined ? undefined : lockUpTo(max, info, known));
  if (lock === undefined && !ignoreWaves) return undefined;
  return { ...(lock !== undefined && { version_lock: lock }), ...(ignoreWaves && { ignore_waves: true }) };
}

/** Only where the host would take a newer one, which it no longer says once it is locked. What it runs is no reason to lock it. */
function lockUpTo(max: string, { node, shadow }: AssessedNode, known: KnownVersions): string | undefined {
  const { status, spec } = shadow ?? {};
  if (!status) return undefined;
  if (compareSemver(status.target_version, max) <= 0 && spec?.version_wish?.version_lock == null) return undefined;
  const newest = known.newestUpTo(max, node.family);
  return newest !== undefined && compareSemver(newest, status.current_version) > 0 ? newest : undefined;
}

/** Null stands for nothing. */
const isSameWish = (a: VersionWish | null | undefined, b: VersionWish | null | undefined): boolean =>
  (a?.version_lock ?? null) === (b?.version_lock ?? null) && (a?.ignore_waves ?? false) === (b?.ignore_waves ?? false);
