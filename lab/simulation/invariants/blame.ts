import type { Instant } from '../types.ts';
import { isController, isOperator, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import type { SeenHost } from './seen-host.ts';
import { clock, NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** Reasons by which a release may be blamed, and what must have happened to the host since the start. */
const GROUNDS: Readonly<Record<string, (host: SeenHost, version: string) => boolean>> = {
  PrepareFailed: ({ calls }) => calls.has('/actions/prepare-update'),
  BootFailed: ({ downForUpdate, version: running }, version) => downForUpdate && running !== version,
  Unstable: ({ version: running }, version) => running === version,
  Reverted: ({ versions, version: running }, version) => versions.has(version) && running !== version,
};

/** The Lease keeps whole seconds of when a reboot was asked for. */
const ROUNDED_MS = 1000;

/** Of what was finished, whatever is wanted by now. */
const SAID_AT_REST: ReadonlySet<string> = new Set(['Reverted', 'Unstable']);

/** F1, F5. */
export const blame: Rule = {
  name: 'blame',
  begin(picture) {
    // By name of the shadow, since when it has the record of a request to reboot.
    const askedAt = new Map<string, Instant>();
    return ofWrites('bottlerocketshadows', (write) => {
      const { before, after, by } = write;
      if (!before || !after) return NOTHING;
      const [old, made] = [shadowFacts(before), shadowFacts(after)];
      noteRequest(askedAt, write, { old, made });
      if (!isOperator(by)) return NOTHING;
      return [
        ...recorded(picture, old, made),
        ...forgotten(picture, old, made),
        ...said(picture, old, made),
        ...early(picture, { write, old, made }),
        ...hasty(picture, { write, old, made, askedAt: askedAt.get(write.name) }),
      ];
    });
  },
};

interface Change {
  readonly old: ShadowFacts;
  readonly made: ShadowFacts;
}

function noteRequest(askedAt: Map<string, Instant>, { name, at }: Write, { old, made }: Change): void {
  const [before, record] = [old.status?.record, made.status?.record];
  if (!record?.requested) askedAt.delete(name);
  else if (!before?.requested || before.boot !== record.boot) askedAt.set(name, at);
}

/** An agent that keeps no reasons is believed: its failures count against what it was told to install. */
function recorded(picture: Picture, old: ShadowFacts, made: ShadowFacts): readonly string[] {
  const { reason = '', failed = [] } = made.status ?? {};
  const blamed = failed.find((version) => !old.status?.failed.includes(version));
  if (blamed === undefined) return NOTHING;
  if (blamed !== made.version && !SAID_AT_REST.has(reason))
    return [`${made.node} blames ${blamed}, and was told to install ${made.version}`];
  return reason === ''
    ? NOTHING
    : groundless(picture.hosts.get(made.node), `${made.node} blames ${blamed} for ${reason}`, { reason, blamed });
}

/** Until the node runs it well. The older operator's agent keeps nothing of it. */
function forgotten({ processes }: Picture, old: ShadowFacts, { node, status }: ShadowFacts): readonly string[] {
  const { failed = [] } = old.status ?? {};
  const { failed: kept = [], current } = status ?? {};
  const lost = failed.find((version) => !kept.includes(version) && current !== version);
  // Of more than five the oldest go, and one is not read where the node runs it well.
  return lost === undefined || kept.length >= 4 || processes.has(`upstream-agent-${node}`)
    ? NOTHING
    : [`${node} has failed on ${lost}, and does not say so any more`];
}

function groundless(
  host: SeenHost | undefined,
  says: string,
  { reason, blamed }: { readonly reason: string; readonly blamed: string },
): readonly string[] {
  const grounds = GROUNDS[reason];
  if (!grounds) return [says];
  return host && !grounds(host, blamed) ? [`${says}, and that never happened`] : NOTHING;
}

const isLost = ({ verdict }: ShadowFacts): boolean => verdict?.reason === 'NotReturned';

/** Nobody may count from before a reboot was asked for, by whichever controller's clock that stands in the permit: the whole time is waited. */
function hasty(
  picture: Picture,
  { write, old, made, askedAt }: Change & { readonly write: Write; readonly askedAt: Instant | undefined },
): readonly string[] {
  if (!isLost(made) || isLost(old) || askedAt === undefined) return NOTHING;
  const { runs, since } = picture.agentOf(made.node);
  const from = runs ? askedAt : Math.min(askedAt, since);
  const slack = picture.sight.apartMs + ROUNDED_MS;
  const isOver = from + picture.terms.returnTimeoutMs <= write.sentAt + slack;
  return isOver ? NOTHING : [`${made.node} is said not to have returned, and was asked to reboot at ${clock(askedAt)}`];
}

/** States of a status in which an update is over, whether its agent is there or not. */
const OVER: ReadonlySet<string> = new Set(['Idle', 'MonitoringUpdate', 'ErrorReset']);

const stateOf = ({ status }: ShadowFacts): string => status?.state ?? 'Idle';

/** M8, F5: no node is rescued whose agent has not been gone for its time, whatever the node says of when it was. What is undisturbed is called off (L8). */
function early(picture: Picture, { write, old, made }: Change & { readonly write: Write }): readonly string[] {
  const { by, sentAt } = write;
  const isEnd = isController(by) && old.state !== 'Idle' && made.state === 'Idle';
  if (!isEnd || OVER.has(stateOf(old)) || !picture.nodes.get(made.node)?.facts.marks) return NOTHING;
  const { runs, since } = picture.agentOf(made.node);
  if (runs || !picture.sight.known(since, sentAt)) return NOTHING;
  return since + picture.terms.agentTimeoutMs <= sentAt + ROUNDED_MS
    ? NOTHING
    : [`the update of ${made.node} is ended, and its agent is gone since ${clock(since)}`];
}

/** Time alone blames only what was asked for. An agent that keeps no records cannot say what it asked for. */
function said({ nodes }: Picture, old: ShadowFacts, made: ShadowFacts): readonly string[] {
  if (!isLost(made) || isLost(old)) return NOTHING;
  const record = made.status?.record;
  const isBack = nodes.get(made.node)?.facts.version === made.version;
  if (!record || record.requested || isBack) return NOTHING;
  return [`${made.node} is said not to have returned, and nobody asked it to reboot`];
}
