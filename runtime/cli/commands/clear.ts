import { type ReleaseResource, RELEASES_PATH } from '../../api/resources.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { mergePatch } from '../../lib/json.ts';
import { decidedBy } from '../../api/release/decided.ts';
import { clear as cleared, type Ledger, ledgerOf, shown } from '../../api/release/ledger.ts';
import { RELEASE_SHORT_NAME } from '../../api/release/names.ts';
import { quoted } from '../arguments.ts';
import { type Answer, type Command, type CommandRequest, RefusedCommandError } from '../command.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import { calledOf, failedTexts, failuresOf, knownReleases, noRelease, releasesCalled } from '../known-releases.ts';
import { BY_OPTION, type Change, CHANGE_OPTIONS, changeAll, isDryRun, patchObject, requesterOf } from '../change.ts';

export const clear: Command = {
  name: 'clear',
  args: 'RELEASE [NODE...]',
  summary: 'take failures of a release back, of all nodes or of these',
  details: `Use it where the nodes were at fault, and not the release. The attempts are remembered, so that they do not count again; the next attempt
of a node does. Without NODE it clears all. A halt by a person stays.`,
  options: { ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: clearFailures,
};

async function clearFailures(request: CommandRequest): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const [words = '', ...nodes] = request.names;
  const known = await knownReleases(cluster);
  const called = releasesCalled(known, words);
  if (called.length === 0) throw noRelease(known, words);
  const failed = new Set(called.flatMap(failuresOf).map(({ node }) => node));
  const missing = nodes.filter((node) => !failed.has(node));
  if (missing.length > 0) {
    const those = called.flatMap(failedTexts).join(', ') || 'no node';
    throw new RefusedCommandError(`${missing.join(', ')}: not failed on ${words}, on which ${those} failed`);
  }
  const asked = nodes.length === 0 ? called : called.filter(({ status }) => uidsOf(ledgerOf(status), nodes).length > 0);
  return changeAll(
    request,
    asked.map((one) => ({ object: calledOf(one), change: () => clearOne({ request, cluster, nodes }, one) })),
  );
}

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  /** Their names; empty for all. */
  readonly nodes: readonly string[];
}

async function clearOne({ request, cluster, nodes }: Session, release: ReleaseResource): Promise<Change> {
  const { name } = release.metadata;
  const target = { path: RELEASES_PATH, name, called: calledOf(release), dryRun: isDryRun(request), of: 'status' };
  let taken: readonly string[] = [];
  let back: object = {};
  const changed = await patchObject(cluster, target, (object) => {
    const { spec, status } = object as ReleaseResource;
    const before = ledgerOf(status);
    const uids = uidsOf(before, nodes);
    taken = uids.flatMap((uid) => before.failures[uid]?.node ?? []).toSorted();
    if (uids.length === 0) return undefined;
    const said = { at: timeOf(before, uids, request), by: requesterOf(request) };
    const after = shown(cleared(before, uids, said), decidedBy(spec));
    back = mergePatch({ ...after }, { ...before });
    return { status: mergePatch({ ...before }, { ...after }) };
  });
  if (!changed) return { object: target.called, changed, says: 'has no failure', undo: undefined };
  const patch = quoted(JSON.stringify({ status: back }));
  return {
    object: target.called,
    changed,
    says: `the failures of ${taken.join(', ')} are taken back`,
    undo: `kubectl patch ${RELEASE_SHORT_NAME} ${name} --subresource status --type merge --patch ${patch}`,
  };
}

const uidsOf = ({ failures }: Ledger, nodes: readonly string[]): readonly string[] =>
  Object.keys(failures).filter((uid) => nodes.length === 0 || nodes.includes(failures[uid]?.node ?? ''));

/** Now, but never before the failures: what was cleared after them is not entered again, and the clock of this machine may be slow. */
function timeOf({ failures }: Ledger, uids: readonly string[], { clock }: CommandRequest): string {
  const failedAt = uids.map((uid) => instantOf(failures[uid]?.at) ?? 0);
  return rfc3339(Math.max(clock.now(), ...failedAt));
}
