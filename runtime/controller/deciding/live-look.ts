import type { Collection } from '../../kube/collection.ts';
import { ApiStatusError, apiStatusError, UnreachableError } from '../../kube/errors.ts';
import { type ReleaseResource, releasesOf } from '../../api/resources.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { namespacesOf } from '../../kube/resources.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import { DeadlineError, withDeadline } from '../../lib/abort.ts';
import { type Clock, momentOf } from '../../lib/clock.ts';
import { inParallel } from '../../lib/parallel.ts';
import { type ActionPorts, agentsOn } from '../writing/actions/ports.ts';
import type { Caches, ClusterView, LiveNode } from '../seeing/caches.ts';
import type { ControlPlane } from '../seeing/control-plane.ts';
import type { OtherOperators } from '../seeing/other-operators.ts';
import type { Start } from '../plan/facts/commands.ts';
import type { Planner } from './planner.ts';
import type { Policies } from '../seeing/policies.ts';
import { viewOfRelease } from '../seeing/releases.ts';
import { pauseOf } from '../seeing/views.ts';
import { type PermitLedger, PermitsMovedError } from '../permits/ledger.ts';
import { takeoversIn } from '../permits/takeovers.ts';
import { UnreadError } from '../writing/write-limiter.ts';

/** Nodes that are read at once. */
const AT_ONCE = 10;
/** Most nodes of one look. The others have theirs with the next plan: what was read is to be young when it is acted on. */
export const MOST_IN_A_LOOK = 100;
/** What has no answer by then counts as not answered. */
const LOOK_MS = 10_000;

interface LiveLookOptions extends ClusterConnection, Pick<ActionPorts, 'shadows' | 'nodes' | 'pods'> {
  readonly clock: Clock;
  readonly caches: Pick<Caches, 'laidOver'>;
  readonly policies: Pick<Policies, 'readLive'>;
  readonly planner: Pick<Planner, 'look' | 'planOn'>;
  readonly permitLedger: Pick<PermitLedger, 'confirm' | 'enter'>;
  readonly controlPlane: Pick<ControlPlane, 'read'>;
  readonly otherOperators: Pick<OtherOperators, 'read'>;
}

/** What became of the starts of a plan. */
interface Looked {
  /** As they were given again, on what was read. */
  readonly confirmed: readonly Start[];
  /** Not given again. */
  readonly dropped: readonly Start[];
  readonly unread: readonly { readonly start: Start; readonly error: UnreadError }[];
}

type Candidate = { readonly start: Start } & (
  { readonly live: LiveNode } | { readonly live: undefined; readonly error: UnreadError }
);

/** Looks at the API server itself before permits are taken, and plans again on what it reads there (rule L1). */
export class LiveLook {
  readonly #options: LiveLookOptions;
  readonly #namespaces: Pick<Collection<KubeObject>, 'get'>;
  readonly #releases: Pick<Collection<ReleaseResource>, 'list'>;

  constructor(options: LiveLookOptions) {
    this.#options = options;
    this.#namespaces = namespacesOf(options.transport);
    this.#releases = releasesOf(options.transport);
  }

  /**
   * Reads first the list that is to be swapped. So a leader that was deposed by then cannot take what it reads afterwards for what its list was
   * made on. All else is read at once: with an API server that keeps each request waiting, one after the other would not be done in time.
   * @throws UnreadError: nothing may start; NotLeadingError, PermitsMovedError, UnreadablePermitsError
   */
  async confirm(starts: readonly Start[], outer: AbortSignal): Promise<Looked> {
    const { clock, caches, policies, planner, permitLedger, controlPlane, otherOperators } = this.#options;
    return withDeadline({ clock, ms: LOOK_MS, signal: outer }, async (signal) => {
      await reading('the list of permits', () => permitLedger.confirm(signal));
      // From before everything else is read, so that nothing older is laid over something newer.
      const view = planner.look(momentOf(clock));
      await this.#takeOver(view, signal);
      const [namespace, policiesAt, releases, candidates] = await Promise.all([
        reading('the namespace', () => this.#namespace(signal)),
        reading('the list of policies', () => policies.readLive(signal)),
        reading('the list of releases', () => this.#releases.list({}, signal)),
        inParallel(starts, AT_ONCE, (start) => this.#candidate(start, signal)),
        controlPlane.read(signal),
        otherOperators.read(signal),
      ]);
      const live = candidates.flatMap((one) => one.live ?? []);
      outer.throwIfAborted();
      const moment = momentOf(clock);
      const { now } = moment;
      const seen = { ...caches.laidOver(view, live, now), ...pauseOf(namespace), policies: policiesAt(now) };
      const { commands } = planner.planOn(seen, releases.map(viewOfRelease), moment);
      const again = commands.filter((command) => command.kind === 'start');
      const read = candidates.filter((one) => one.live !== undefined).map(({ start }) => start);
      return {
        confirmed: again.filter((one) => read.some((start) => isSame(start, one))),
        dropped: read.filter((start) => !again.some((one) => isSame(start, one))),
        unread: candidates.filter((one) => one.live === undefined),
      };
    });
  }

  /** Updates that are under way without a permit enter the list before a permit is given, so that the next plan counts them. */
  async #takeOver(view: ClusterView, signal: AbortSignal): Promise<void> {
    const takings = takeoversIn(view);
    if (takings.length === 0) return;
    await reading('the list of permits', () => this.#options.permitLedger.enter(takings, signal));
    throw new PermitsMovedError('updates that have begun without a permit are on the list now');
  }

  async #namespace(signal: AbortSignal): Promise<KubeObject> {
    const { namespace } = this.#options;
    const found = await this.#namespaces.get(namespace, signal);
    if (found) return found;
    throw apiStatusError(`GET namespace ${namespace}`, { code: 404, reason: 'NotFound', message: 'it is not there' });
  }

  async #candidate(start: Start, signal: AbortSignal): Promise<Candidate> {
    const { nodes, shadows, pods } = this.#options;
    const { node: name, shadow: shadowName } = start;
    try {
      const [node, shadow, agents] = await Promise.all([
        reading('the Node', () => nodes.get(name, signal)),
        reading('the shadow', () => shadows.get(shadowName, signal)),
        reading("the agent's pod", () => agentsOn({ pods }, name, signal)),
      ]);
      return { start, live: { name, shadowName, node, shadow, agents } };
    } catch (error) {
      if (error instanceof UnreadError) return { start, live: undefined, error };
      throw error;
    }
  }
}

/** For the same node, on the same version, under the same policy, in the same budgets. */
const isSame = (a: Start, b: Start): boolean =>
  a.nodeUid === b.nodeUid && a.version === b.version && a.policy?.uid === b.policy?.uid && a.arriving === b.arriving;

/** @throws UnreadError where the API server does not tell */
async function reading<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiStatusError || error instanceof UnreachableError || error instanceof DeadlineError)
      throw new UnreadError(what, error);
    throw error;
  }
}
