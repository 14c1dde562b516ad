import { instantOf } from '../../lib/clock.ts';
import { compareSemver } from '../../shadow/semver.ts';
import type { Status } from '../../shadow/model.ts';
import type { Health } from './health.ts';
import type { Assessed } from './releases.ts';
import type { ShadowView } from './snapshot.ts';
import { isActive, type Subject } from './subject.ts';
import { type Finding, found } from './verdict.ts';

/** What there is to say of a managed node, starts apart; undefined where only they decide. */
export function findingFor({ subject, health }: Assessed, newest: ReadonlyMap<string, string>): Finding | undefined {
  const { node, shadow } = subject;
  if (!shadow) return withoutShadow(subject, health);
  const trouble = troubleOf(subject, shadow, health);
  if (trouble) return trouble;
  if (!shadow.status) return found('AgentMissing', 'the agent of the node has not reported yet');
  if (isActive(shadow)) return updating(shadow);
  if (shadow.status.current_version !== shadow.status.target_version) return undefined;
  return isBehind(shadow.status, newest.get(node.family))
    ? found('NoUpdateOffered', 'the host is not offered the version that others of its kind know of')
    : found('UpToDate', 'the node runs the newest version that it is offered');
}

function withoutShadow({ node, isShadowUnowned }: Subject, { agentSilent }: Health): Finding {
  if (isShadowUnowned) return found('ShadowNotOwned', `${node.shadowName} ${NOT_OWNED}`);
  return found('AgentMissing', agentSilent ? NEVER_CAME : 'the agent of the node has not registered it');
}

const NOT_OWNED = 'does not name the Node as its owner: delete it, and the agent registers the node anew';
const NEVER_CAME = 'no agent has come to register the node';

/** Where the node is down, by what the cluster says, which every process reads alike. */
function troubleOf({ node, silentSince }: Subject, shadow: ShadowView, health: Health): Finding | undefined {
  const { notReturned, soak, agentSilent } = health;
  const { spec, status } = shadow;
  const since = node.ready ? silentSince : node.readyChangedAt;
  const lasting = (finding: Finding): Finding => (since === undefined ? finding : { ...finding, since });
  if (notReturned) {
    const missing = node.ready ? 'the agent of the node' : 'the node';
    const released = agentSilent ? ', and nobody waits for it any more' : '';
    return lasting(
      found('NotReturned', `${missing} did not come back from its reboot into ${spec.version}${released}`),
    );
  }
  if (soak === 'failed')
    return lasting(found('SoakFailed', `the node is not Ready since its update to ${status?.current_version}`));
  if (agentSilent) return lasting(found('AgentSilent', 'no container of the agent runs on the node'));
  return undefined;
}

/** The step stays out of the message, which would otherwise be written to the cluster at each of them. */
function updating({ spec, status }: ShadowView): Finding {
  const step = status?.current_state === 'ErrorReset' ? 'ErrorReset' : spec.state;
  const drain = spec.state === 'RebootedIntoUpdate' ? status?.drain : undefined;
  if (drain && drain.blocked_by.length > 0) return { ...drainBlocked({ drain }), step };
  const version = spec.version ?? 'the next version';
  return { ...found('Updating', `the node is being updated to ${version}`), step };
}

/** In the words that stand in the status, which outlive the attempt that they were said of. */
export function drainBlocked(status: Pick<Status, 'drain'> | undefined): Finding {
  const { started_at, blocked_by = [] } = status?.drain ?? {};
  const since = instantOf(started_at);
  return {
    ...found('DrainBlocked', `the drain waits for ${shortList(blocked_by)}`),
    ...(since !== undefined && { since }),
  };
}

function shortList(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and more` : shown;
}

function isBehind(status: Status, newest: string | undefined): boolean {
  return newest !== undefined && newest !== status.current_version && compareSemver(newest, status.current_version) > 0;
}

/** By family, the newest version that any of its hosts runs or is offered. */
export function newestVersions(managed: readonly Assessed[]): Map<string, string> {
  const versions = new Map<string, Set<string>>();
  for (const { subject } of managed) {
    const { node, shadow } = subject;
    if (!shadow?.status) continue;
    const known = versions.get(node.family) ?? new Set();
    versions.set(node.family, known.add(shadow.status.current_version).add(shadow.status.target_version));
  }
  return new Map([...versions].map(([family, known]) => [family, [...known].reduce(newerOf)]));
}

function newerOf(a: string, b: string): string {
  return compareSemver(a, b) < 0 ? b : a;
}
