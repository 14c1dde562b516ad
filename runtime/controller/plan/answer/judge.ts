import { notReadyText } from '../facts/node.ts';
import { drainEndsAt, type Progress, progressAt, refusalsIn } from '../../../api/shadow/drain.ts';
import type { Status } from '../../../api/shadow/model.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import { reasonOfCallOff } from '../gates/again.ts';
import type { World } from '../gates/asking.ts';
import { checkedAfter } from '../gates/checks.ts';
import { unaskedBootOf } from '../nodes/blame.ts';
import { withWish } from '../groups/way-back.ts';
import { withEvidence, worseAfter } from '../nodes/evidence.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { awaited, withMeanwhile } from './meanwhile.ts';
import { overdue } from './deadline.ts';
import { PHASES } from '../facts/phase.ts';
import { isDone, isReason, type Reason } from '../facts/reasons.ts';
import { type GateResult, NEVER, nextAfter, PASS } from '../facts/requeue.ts';
import type { ShadowView, WriteRefusal } from '../facts/snapshot.ts';
import { stepOf } from '../facts/steps.ts';
import type { Starts } from '../gates/starts.ts';
import {
  atTime,
  drainBlockedFinding,
  type Finding,
  found,
  type Stop,
  type Verdict,
  verdictOn,
  WAITING,
} from '../facts/verdict.ts';
import type { Warning } from './warnings.ts';
import { withRefusal } from '../gates/withheld.ts';

interface Decisions {
  readonly starts: Starts;
  /** By UID of the node, what ends its update or keeps it where it is. */
  readonly stops: ReadonlyMap<string, Stop>;
  /** By name of the shadow, what withholds a command for its node. */
  readonly refusals: ReadonlyMap<string, WriteRefusal>;
  readonly warnings: readonly Warning[];
}

/** Why each managed node is not being updated, or what its update is at, in their order, and when time alone changes that. */
export function judge(
  managed: readonly AssessedNode[],
  decisions: Decisions,
  world: World,
): { readonly verdicts: readonly Verdict[]; readonly changesAt: number } {
  const judgement = new Judgement(decisions, world);
  const verdicts = managed.map((info) => judgement.on(info));
  return { verdicts, changesAt: judgement.changesAt };
}

class Judgement {
  changesAt = NEVER;
  readonly #decisions: Decisions;
  readonly #world: World;
  /** By family, the newest version that any of its hosts runs or is offered. */
  readonly #newest: ReadonlyMap<string, string>;

  constructor(decisions: Decisions, world: World) {
    this.#decisions = decisions;
    this.#world = world;
    this.#newest = world.groups.families.newest();
  }

  on(info: AssessedNode): Verdict {
    const { node, ruling } = info;
    const own = verdictOn(node.name, this.#finding(info), ruling.policy?.name);
    return withWarnings(withMeanwhile(own, info, this.#world), this.#decisions.warnings);
  }

  #finding(info: AssessedNode): Finding {
    const { starts } = this.#decisions;
    const start = starts.starting.get(info);
    if (start) return updatingTo(start.version);
    /** What keeps it from starting the update that it is offered. */
    const kept = starts.kept[info.at]?.finding;
    const own = info.isSettled && info.offered !== undefined ? undefined : this.#own(info);
    const isUnderWay = own?.step !== undefined;
    const finding = isUnderWay ? this.#underWay(info, own, kept) : (own ?? kept ?? WAITING);
    return explained(finding, kept, this.#refusalFor(info));
  }

  /** Apart from starts. Nothing else is due on a settled node that is offered an update. */
  #own(info: AssessedNode): Finding | undefined {
    const seen = this.#withSight(info, withWish(info, findingFor(info, this.#newest, this.#world), this.#world));
    return seen && withWords(seen, this.#world.snapshot.lastWords?.get(info.node.name));
  }

  #refusalFor(info: AssessedNode): Pick<WriteRefusal, 'message'> | undefined {
    const { refusals } = this.#decisions;
    const withheld = refusals.size === 0 ? undefined : refusals.get(info.node.shadowName);
    return withheld ?? this.#world.entered.unwritten(info);
  }

  /** A host that cannot look for updates does not know whether it is up to date. */
  #withSight({ shadow }: AssessedNode, own: Finding | undefined): Finding | undefined {
    const since = shadow?.cannotLookSince;
    if (since === undefined || !own || !isDone(own.reason)) return own;
    const { settings, now } = this.#world;
    const endsAt = since + settings.checkFailedAfterMs;
    this.changesAt = nextAfter(now, [this.changesAt, endsAt]);
    if (endsAt > now) return own;
    const message = `the host cannot look for updates since ${atTime(since)}: ${shadow?.status?.check?.error ?? ''}`;
    return { ...found('CannotLookForUpdates', message), since };
  }

  #underWay(info: AssessedNode, own: Finding, kept: Finding | undefined): Finding {
    const stop = this.#decisions.stops.get(info.node.uid);
    const { now } = this.#world;
    const { finding, changesAt } = heldUp(info, own, { stop, world: this.#world });
    const progress = drainAt(info, now);
    const believedUntil = progress?.kind === 'known' ? progress.until : NEVER;
    this.changesAt = nextAfter(now, [this.changesAt, changesAt, believedUntil]);
    const said = finding ?? (kept ? { ...own, newer: kept } : own);
    const { controlPlaneAway: away } = this.#world.snapshot;
    // A budget waits for successors that do not come.
    return said.reason === 'DrainBlocked' && away !== undefined
      ? { ...said, message: `${said.message}; ${away}` }
      : said;
  }
}

/** What an agent says that ends by itself, as where the apiserver does not know it. */
function withWords(finding: Finding, words: string | undefined): Finding {
  if (words === undefined || !isReason(finding.reason, 'agentless')) return finding;
  return { ...finding, message: `${finding.message}; its agent ended with: ${words}` };
}

/** Where several commands for the node are withheld, the verdict names its start first. */
function explained(
  finding: Finding,
  kept: Finding | undefined,
  other: Pick<WriteRefusal, 'message'> | undefined,
): Finding {
  const refusal = kept?.reason === 'WriteRefused' ? kept : other;
  return refusal ? withRefusal(finding, refusal) : finding;
}

const EXPLAINED: ReadonlySet<string> = new Set<Reason>(['DrainBlocked', 'NoRoom', 'WriteRefused']);

/** Why a running update does not go on; no finding where it simply runs. */
function heldUp(
  info: AssessedNode,
  own: Finding,
  { stop, world }: { readonly stop: Stop | undefined; readonly world: World },
): GateResult {
  const isExplained = info.node.ready && (stop !== undefined || EXPLAINED.has(own.reason));
  const late = isExplained ? PASS : overdue(info, world);
  if (late.finding) return late;
  if (stop) return { finding: stop.because, changesAt: late.changesAt };
  const { finding, changesAt } = own.reason === 'Updating' ? reasonOfCallOff(info, world) : PASS;
  return { finding, changesAt: nextAfter(world.now, [late.changesAt, changesAt]) };
}

/** The finding on a managed node, apart from starts; undefined where only starts decide. */
function findingFor(info: AssessedNode, newest: ReadonlyMap<string, string>, world: World): Finding | undefined {
  const { shadow } = info;
  if (!shadow) return withoutShadow(info);
  const trouble = troubleOf(info, shadow) ?? checkedAfter(info, world) ?? awaited(info, world) ?? worseAfter(info);
  if (trouble) return trouble;
  if (!shadow.status) return unreported(info);
  if (PHASES[info.phase.kind].isUnderWay) return withEvidence(info, updating(info, shadow, world));
  const { current_version: current, target_version: target } = shadow.status;
  return current === target ? withEvidence(info, withoutOffer(info, shadow, newest)) : undefined;
}

/** The finding on a node that is offered what it runs. */
function withoutOffer(info: AssessedNode, shadow: ShadowView, newest: ReadonlyMap<string, string>): Finding {
  const { order, status } = shadow;
  const unstable = unstableOn(info, shadow);
  if (unstable) return unstable;
  if (order?.version === undefined && order) return order.stop.because;
  return status && isBehind(status, newest.get(info.node.family)) ? NOT_OFFERED : NEWEST;
}

/** It has left what it runs and is offered, and come back; or goes not Ready again and again. */
function unstableOn(info: AssessedNode, { status }: ShadowView): Finding | undefined {
  const boot = unaskedBootOf(info);
  if (boot && boot.version === status?.current_version) return found(boot.reason, boot.message);
  if (!info.health.isUnstable) return undefined;
  return found('Unstable', `it went not Ready three times since its update to ${status?.current_version}`);
}

const NOT_OFFERED = found('NoUpdateOffered', 'the host is not offered the version that others of its kind know of');
const NEWEST = found('UpToDate', 'the node runs the newest version that it is offered');

const unreported = ({ health }: AssessedNode): Finding =>
  found('AgentMissing', health.agentSilent ? NEVER_REPORTED : 'the agent of the node has not reported yet');

const NEVER_REPORTED = 'no agent runs on the node, and none has reported';

function withoutShadow({ node, isShadowUnowned, health }: AssessedNode): Finding {
  if (isShadowUnowned) return found('ShadowNotOwned', `${node.shadowName} ${NOT_OWNED}`);
  return found('AgentMissing', health.agentSilent ? NEVER_CAME : 'the agent of the node has not registered it');
}

const NOT_OWNED = 'does not name the Node as its owner: delete it, and the agent registers the node anew';
const NEVER_CAME = 'no agent has come to register the node';

/** For a node that is down, the time is the cluster's, so that every process says the same. */
function troubleOf({ node, silentSince, health }: AssessedNode, shadow: ShadowView): Finding | undefined {
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
    return lasting(
      found('SoakFailed', `the node is ${notReadyText(node)} since its update to ${status?.current_version}`),
    );
  // Without a status a condition has no place, and only the Event of a missing agent tells of it.
  if (agentSilent && status) return lasting(found('AgentSilent', 'no container of the agent runs on the node'));
  return undefined;
}

const updatingTo = (version: string): Finding => found('Updating', `the node is being updated to ${version}`);

function updating(info: AssessedNode, { spec, status }: ShadowView, world: World): Finding {
  const step = status?.current_state === 'ErrorReset' ? 'ErrorReset' : spec.state;
  const phase = stepOf(info);
  const own = { ...updatingTo(spec.version ?? 'the next version'), step, phase };
  const progress = drainAt(info, world.now);
  if (progress?.kind === 'silent')
    return { ...own, message: `${own.message}; its drain is not reported since ${atTime(progress.since)}` };
  return progress && status?.drain?.blocked_by.length
    ? { ...drainBlockedFinding(status), step, phase, ...givenUp(info, world) }
    : own;
}

/** When a drain that has begun is given up. */
function givenUp({ shadow, phase }: AssessedNode, { settings }: World): Pick<Finding, 'until'> {
  const drain = phase.kind === 'draining' ? shadow?.status?.drain : undefined;
  const until = drain && drainEndsAt(drain, settings.drainTimeoutMs);
  return until ? { until } : {};
}

/** What is known of the drain that runs, or of what is refused once it is over. */
function drainAt({ node, shadow }: AssessedNode, now: number): Progress | undefined {
  const { spec, status } = shadow ?? {};
  const drain = status?.drain;
  if (!drain) return undefined;
  const isOurs = spec?.state === 'RebootedIntoUpdate' || refusalsIn(drain.blocked_by).length > 0;
  return isOurs ? progressAt(drain, node.marks, now) : undefined;
}

function isBehind(status: Status, newest: string | undefined): boolean {
  return newest !== undefined && newest !== status.current_version && compareSemver(newest, status.current_version) > 0;
}

/** The verdict, with the warnings where its node is about to be updated, or is. */
function withWarnings(verdict: Verdict, warnings: readonly Warning[]): Verdict {
  if (warnings.length === 0 || !isReason(verdict.reason, 'ahead')) return verdict;
  return { ...verdict, message: [verdict.message, ...warnings.map(({ message }) => message)].join('; ') };
}
