import type { Instant } from '../types.ts';
import { at, isController, LEASE, leaseFacts, type PermitFacts, shadowFacts, type ShadowFacts } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** What agents say that a release is to blame for, once it has been told to install it. */
const BLAMES: ReadonlySet<string> = new Set(['PrepareFailed', 'BootFailed']);

/** Entries that a node does not lose by running the release well. */
const LASTING: ReadonlySet<string> = new Set(['CheckFailed', 'WorkloadsNotBack', 'WorkloadsWorse']);

/**
 * F3: a permit leaves the Lease only once the ledger has the bad end of its attempt: one that the agent or the permit itself tells, or that the node
 * is gone after it was asked to reboot. Before that, spec goes to Idle only once the ledger or the permit has it, or the ledger has lost it after a
 * good end.
 */
export const entered: Rule = {
  name: 'entered',
  begin(picture) {
    /** What ledgers have ever had, or a person has cleared, by version, node and attempt. */
    const known = new Set<string>();
    /** By UID of the node, the version on which its agent has failed since its last start. */
    const failed = new Map<string, string>();
    /** By UID of the node, the attempt in which that was. */
    const attempts = new Map<string, string | undefined>();
    /** The last shadow of each node, by UID of the node. */
    const shadows = new Map<string, ShadowFacts>();
    const judge = (permit: PermitFacts): readonly string[] => {
      const { nodeUid: uid, id, version, shadow } = permit;
      if (id === undefined || version === undefined || known.has(keyOf(version, uid, id))) return NOTHING;
      // One that never began is no failure of an earlier one's.
      const own = attempts.get(uid) === id ? failed.get(uid) : undefined;
      const end = endOf(picture, { permit, last: shadows.get(uid), failed: own });
      return end === undefined
        ? NOTHING
        : [`the permit of ${shadow} for ${version} is given back, and no ledger says ${end}`];
    };
    const isTold = ({ nodeUid, id, version, ended }: PermitFacts): boolean =>
      ended !== undefined || id === undefined || version === undefined || known.has(keyOf(version, nodeUid, id));
    const untold = (write: Write): readonly string[] => {
      const old = restIn(write);
      const permit = old && permitOf(picture, old);
      if (!permit) return NOTHING;
      const version = failed.get(permit.nodeUid);
      if (version !== permit.version || !isBlamed(old, version))
        return blamedStill(picture, old, { uid: permit.nodeUid, sentAt: write.sentAt });
      return isTold(permit) ? NOTHING : [`${old.name} comes to rest, and no ledger says that it has failed`];
    };
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'bottlerocketreleases') for (const one of entriesIn(entry)) known.add(one);
        if (entry.resource === 'leases') return entry.name === LEASE ? givenBack(entry).flatMap(judge) : NOTHING;
        if (entry.resource !== 'bottlerocketshadows') return NOTHING;
        const breaches = untold(entry);
        noteShadow(entry, { failed, shadows });
        for (const { nodeUid, id } of picture.lease.permits) if (!failed.has(nodeUid)) attempts.set(nodeUid, id);
        return breaches;
      },
    };
  },
};

/** The shadow that a controller brings to rest with this write, as it was. */
function restIn({ by, before, after }: Write): ShadowFacts | undefined {
  if (!isController(by) || !before || !after) return undefined;
  const old = shadowFacts(before);
  return old.state !== 'Idle' && shadowFacts(after).state === 'Idle' ? old : undefined;
}

/** Of what it was told to install. */
const permitOf = ({ lease }: Picture, { owners, version }: ShadowFacts): PermitFacts | undefined =>
  lease.permits.find((permit) => owners.includes(permit.nodeUid) && permit.version === version);

/** M8: nobody waits any more for an agent that has not run for so long, and that is no good end. */
function isRescued(picture: Picture, node: string, sentAt: Instant): boolean {
  const { runs, since } = picture.agentOf(node);
  const silentMs = runs || since === -Infinity ? 0 : sentAt - since;
  return silentMs > 0 && silentMs >= picture.terms.agentTimeoutMs - picture.sight.apartMs;
}

/** It has come to a good end, and its release is blamed for it. */
function blamedStill(
  picture: Picture,
  { name, node, state, version, status }: ShadowFacts,
  { uid, sentAt }: { readonly uid: string; readonly sentAt: Instant },
): readonly string[] {
  const { releases, nodes } = picture;
  if (isRescued(picture, node, sentAt)) return NOTHING;
  if (state !== 'MonitoringUpdate' || status?.state !== 'MonitoringUpdate' || status.current !== version)
    return NOTHING;
  const family = nodes.get(node)?.facts.family ?? '';
  const blames = [...releases.values()].some(
    (one) =>
      one.version === version &&
      one.isOf(family) &&
      one.failed.some(({ key, reason }) => key === uid && !LASTING.has(reason)),
  );
  return blames ? [`${name} comes to rest after a good end, and ${version} is still blamed for it`] : NOTHING;
}

/** F4: nothing starts on a release that has no ledger. */
export const ledgers: Rule = {
  name: 'ledgers',
  begin: (picture) => ofWrites('bottlerocketshadows', (write) => unkept(picture, startIn(write))),
};

function unkept({ releases, nodes }: Picture, start: ShadowFacts | undefined): readonly string[] {
  const ofNode = nodes.get(start?.node ?? '')?.facts.family;
  if (start?.version === undefined || ofNode === undefined) return NOTHING;
  const isKept = [...releases.values()].some(({ version, family }) => version === start.version && family === ofNode);
  return isKept ? NOTHING : [`${start.name} starts on ${start.version}, which has no ledger`];
}

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
  const { nodeUid, version, ended } = permit;
  if (ended !== undefined) return ended;
  const isThere = [...nodes.values()].some(({ facts }) => facts.uid === nodeUid);
  if (!isThere) return endOfGone(permit, last);
  return failed === version && isBlamed(last, failed) ? `that it has failed` : undefined;
}

/** A failure that somebody has taken out of the cluster is none. @param failed the version on which its agent has failed since its last start */
const isBlamed = (last: ShadowFacts | undefined, failed: string | undefined): boolean =>
  failed !== undefined && last?.status?.failed.includes(failed) === true;

/** Of an update that had come to rest by then there is none. */
function endOfGone({ isAsked }: PermitFacts, last: ShadowFacts | undefined): string | undefined {
  if (last?.status && !last.active) return undefined;
  return isAsked || (last && wasAsked(last)) ? 'that its node is gone, asked to reboot' : undefined;
}

const wasAsked = ({ state, version, status }: ShadowFacts): boolean =>
  state === 'RebootedIntoUpdate' && status?.record?.requested === true && status.record.version === version;
