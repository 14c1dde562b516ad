import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Instant } from '../types.ts';
import { isOperator, nodeFacts, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { clock, NOTHING, type Rule, type Span, type Write } from './rule.ts';

/** Who goes not Ready so soon after its update is unwell with it, milliseconds. */
const PROBATION = 3_600_000;

const FINISHED = 'brupop.bottlerocket.aws/last-update-finished';

/** Of a version: that a node is watched after its update to it, or when that update was over. */
interface Watch extends Span {
  readonly version: string;
}

/** F1, F5: a node is said to be unwell with a release. */
export const soaks: Rule = {
  name: 'soaks',
  begin(picture) {
    const soak = new Soaks(picture);
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'nodes') soak.seeNode(entry);
        return entry.resource === 'bottlerocketshadows' ? soak.seeShadow(entry) : NOTHING;
      },
    };
  },
};

class Soaks {
  readonly #picture: Picture;
  /** By UID of the node, when it was not Ready. */
  readonly #outages = new Map<string, Span[]>();
  /** By UID of the shadow. Whose update is over counts as unwell with it while it is at rest. */
  readonly #watches = new Map<string, Watch[]>();
  readonly #finishes = new Map<string, Watch[]>();
  readonly #rests = new Map<string, Span[]>();
  /** When a condition last ceased to say so. */
  readonly #saidUntil = new Map<string, Instant>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  seeNode({ before, after, at }: Write): void {
    const { uid } = (after ?? before)!.metadata;
    const isOut = after !== undefined && !nodeFacts(after).ready;
    note(listIn(this.#outages, uid), isOut ? { from: at, to: Infinity } : undefined, at);
  }

  seeShadow(write: Write): readonly string[] {
    const { before, after, at } = write;
    if (!after) return NOTHING;
    const [old, made] = [before && shadowFacts(before), shadowFacts(after)];
    note(listIn(this.#watches, made.uid), watchIn(made, at), at);
    note(listIn(this.#rests, made.uid), made.active ? undefined : { from: at, to: Infinity }, at);
    this.#noteFinish(write, old ?? made, made);
    const [said, says] = [saysSo(old), saysSo(made)];
    if (said && !says) this.#saidUntil.set(made.uid, at);
    return says && !said && isOperator(write.by) ? this.#judge(write, made) : NOTHING;
  }

  #noteFinish({ before, after, at }: Write, old: ShadowFacts, made: ShadowFacts): void {
    const finished = finishedOf(after);
    const isFinished = finished !== undefined && finished !== finishedOf(before);
    if (isFinished || isLed(old, made))
      listIn(this.#finishes, old.uid).push({ version: versionOf(old), from: at, to: Infinity });
  }

  /** What a view that lags may show counts as so. */
  #judge({ sentAt }: Write, made: ShadowFacts): readonly string[] {
    if (this.#isKept(made, sentAt)) return NOTHING;
    const version = versionSaid(made);
    const said = `${made.node} is said to be unwell since its update to ${version}`;
    const isShown = ({ to }: Span): boolean => !this.#picture.sight.known(to, sentAt);
    const isOf = (watch: Watch): boolean => watch.version === version;
    const watches = listIn(this.#watches, made.uid).filter((one) => isOf(one) && isShown(one));
    const finishes = listIn(this.#rests, made.uid).some(isShown) ? listIn(this.#finishes, made.uid).filter(isOf) : [];
    if (watches.length === 0 && finishes.length === 0) return [`${said}, and there was none`];
    const outages = made.owners.flatMap((uid) => listIn(this.#outages, uid)).filter(isShown);
    const since = Math.min(...outages.map((outage) => this.#since(outage, { watches, finishes })));
    const { terms, sight } = this.#picture;
    if (since + terms.soakTimeoutMs <= sentAt + sight.apartMs) return NOTHING;
    return [`${said}, and ${since === Infinity ? 'was not' : `is so since ${clock(since)} alone`}`];
  }

  /** F5: a verdict stays from one controller to the next. Who has not seen yet that it was taken back says it once more. */
  #isKept({ uid }: ShadowFacts, sentAt: Instant): boolean {
    const until = this.#saidUntil.get(uid);
    return until !== undefined && !this.#picture.sight.known(until, sentAt);
  }

  /** Since when an outage counts; Infinity where it does not. */
  #since({ from }: Span, { watches, finishes }: Readonly<Record<'watches' | 'finishes', readonly Watch[]>>): Instant {
    const { apartMs } = this.#picture.sight;
    const isSoonAfter = finishes.some((finish) => from <= finish.from + PROBATION + apartMs);
    return isSoonAfter ? from : Math.min(...watches.map((watch) => Math.max(from, watch.from)));
  }
}

const saysSo = (shadow: ShadowFacts | undefined): boolean => shadow?.verdict?.reason === 'SoakFailed';
const versionSaid = ({ verdict, status }: ShadowFacts): string | undefined =>
  /update to (\S+)$/.exec(verdict?.message ?? '')?.[1] ?? status?.current;
const finishedOf = (shadow: KubeObject | undefined): string | undefined => shadow?.metadata.annotations?.[FINISHED];
const versionOf = ({ version, status }: ShadowFacts): string => version ?? status?.current ?? '';

/**
 * Somebody has ended the update before its host went down, or an older operator's agent has taken an answer that was lost for a failure, and it
 * has led to its version all the same.
 */
const isLed = ({ status }: ShadowFacts, { state, version, status: made }: ShadowFacts): boolean =>
  (state === 'Idle' || made?.state === 'ErrorReset') && made?.current === version && made?.current !== status?.current;

function watchIn(shadow: ShadowFacts, at: Instant): Watch | undefined {
  const isWatched = shadow.state === 'MonitoringUpdate' && shadow.status?.state === 'MonitoringUpdate';
  return isWatched ? { version: versionOf(shadow), from: at, to: Infinity } : undefined;
}

/** Goes on with the last one, ends it, or begins another. */
function note<One extends Span>(
  spans: One[],
  now: (One & { readonly version?: string }) | undefined,
  at: Instant,
): void {
  const last: (One & { readonly version?: string }) | undefined = spans.at(-1);
  const isOpen = last?.to === Infinity;
  if (isOpen && now && last.version === now.version) return;
  if (isOpen) last.to = at;
  if (now) spans.push(now);
}

function listIn<One>(lists: Map<string, One[]>, key: string): One[] {
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
}
