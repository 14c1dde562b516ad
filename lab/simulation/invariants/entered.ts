import { at, isController, LEASE, leaseFacts, type PermitFacts, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';

/** What agents say that a release is to blame for, once it has been told to install it. */
const BLAMES: ReadonlySet<string> = new Set(['PrepareFailed', 'BootFailed']);

/**
 * F3: a permit leaves the Lease only once the ledger has the bad end of its attempt: one that the agent or the permit itself tells, or that the node
 * is gone after it was asked to reboot.
 */
export const entered: Rule = {
  name: 'entered',
  begin(picture) {
    /** What ledgers have ever had, or a person has cleared, by version, node and attempt. */
    const known = new Set<string>();
    /** By UID of the node, the version on which its agent has failed since its last start. */
    const failed = new Map<string, string>();
    /** The last shadow of each node, by UID of the node. */
    const shadows = new Map<string, ShadowFacts>();
    const judge = (permit: PermitFacts): readonly string[] => {
      const { nodeUid: uid, id, version, shadow } = permit;
      if (id === undefined || version === undefined || known.has(keyOf(version, uid, id))) return NOTHING;
      const end = endOf(picture, { permit, last: shadows.get(uid), failed: failed.get(uid) });
      return end === undefined
        ? NOTHING
        : [`the permit of ${shadow} for ${version} is given back, and no ledger says ${end}`];
    };
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'bottlerocketreleases') for (const one of entriesIn(entry)) known.add(one);
        if (entry.resource === 'bottlerocketshadows') noteShadow(entry, { failed, shadows });
        return entry.resource === 'leases' && entry.name === LEASE ? givenBack(entry).flatMap(judge) : NOTHING;
      },
    };
  },
};

const keyOf = (version: string, uid: string, attempt: string): string => `${version} ${uid} ${attempt}`;

function entriesIn({ after }: Write): readonly string[] {
  const version = String(at(after, 'spec', 'version'));
  return ['failures', 'cleared'].flatMap((kind) =>
    Object.entries(at(after, 'status', kind) ?? {}).map(([uid, one]) =>
      keyOf(version, uid, String(at(one, 'attempt'))),
    ),
  );
}

interface Notes {
  readonly failed: Map<string, string>;
  readonly shadows: Map<string, ShadowFacts>;
}

function noteShadow({ before, after }: Write, { failed, shadows }: Notes): void {
  if (!after) return;
  const [old, made] = [before && shadowFacts(before), shadowFacts(after)];
  for (const uid of made.owners) {
    shadows.set(uid, made);
    if (old?.state === 'Idle' && made.state !== 'Idle') failed.delete(uid);
    if (hasJustFailed(old, made)) failed.set(uid, made.version!);
  }
}

function hasJustFailed(old: ShadowFacts | undefined, { state, version, status }: ShadowFacts): boolean {
  if (state === 'Idle' || version === undefined || status?.state !== 'ErrorReset') return false;
  const isNew = old?.status !== undefined && old.status.state !== 'ErrorReset';
  return isNew && BLAMES.has(status.reason ?? '') && status.failed.includes(version);
}

/** Permits that a controller takes off the list. */
function givenBack({ by, before, after }: Write): readonly PermitFacts[] {
  if (!isController(by) || !before || !after) return [];
  const kept = new Set(leaseFacts(after).permits.map(({ nodeUid }) => nodeUid));
  return leaseFacts(before).permits.filter(({ nodeUid }) => !kept.has(nodeUid));
}

interface Attempt {
  readonly permit: PermitFacts;
  readonly last: ShadowFacts | undefined;
  readonly failed: string | undefined;
}

/** How the attempt has ended badly; undefined where nobody can tell that it has. */
function endOf({ nodes }: Picture, { permit, last, failed }: Attempt): string | undefined {
  const { nodeUid, version, ended, isAsked } = permit;
  if (ended !== undefined) return ended;
  const isThere = [...nodes.values()].some(({ facts }) => facts.uid === nodeUid);
  if (!isThere) return isAsked || (last && wasAsked(last)) ? 'that its node is gone, asked to reboot' : undefined;
  // A failure that somebody has taken out of the cluster is none.
  const isSaid = failed === version && last?.status?.failed.includes(version!) === true;
  return isSaid ? `that it has failed` : undefined;
}

const wasAsked = ({ state, version, status }: ShadowFacts): boolean =>
  state === 'RebootedIntoUpdate' && status?.record?.requested === true && status.record.version === version;
