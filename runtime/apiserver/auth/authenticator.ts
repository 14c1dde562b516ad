import { createHash } from 'node:crypto';
import { ApiStatusError } from '../../kube/errors.ts';
import type { Collection } from '../../kube/collection.ts';
import type { Node, Pod } from '../../kube/objects.ts';
import type { TokenReviewPort, TokenReviewStatus } from '../../kube/reviews.ts';
import { MAX_REQUESTS } from '../../kube/transport.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { Clock } from '../../lib/clock.ts';
import { FairLimiter } from '../../lib/fair-limiter.ts';
import type { Random } from '../../lib/random.ts';
import { TOKEN_AUDIENCE } from '../../api/shadow/names.ts';
import { kubernetesRefusal, RefusedError } from '../refusal.ts';
import { agentClaims, agentNode, precheckToken } from './claims.ts';
import type { Credentials } from './credentials.ts';
import { ExpiringCache } from '../../lib/expiring-cache.ts';

/** How long a token that was found good counts as good, at most. */
const TTL_MS = 10_000;
const MAX_TOKENS = 20_000;
/**
 * One address may take half of the places, so that others get through. A fleet behind one address is done in seconds. All addresses
 * together may take half of the connections to the Kubernetes API.
 */
const REVIEWS = {
  max: MAX_REQUESTS / 2,
  maxPerParty: MAX_REQUESTS / 4,
  maxWaiting: 500,
  busy: () => new RefusedError(503, 'Busy', 'too many tokens at once; ask again'),
};

/** An agent whose token, pod and node have been checked against each other. */
export interface VerifiedAgent {
  readonly nodeName: string;
  /** UID of the Node object, which tells it from a later one of the same name. */
  readonly nodeUid: string;
  /** Boot id of its host; null where it does not say, as older agents do. */
  readonly bootId: string | null;
}

/** Whose a token is. */
interface TokenOwner {
  readonly nodeName: string;
  /** The Node that it was issued on. Older clusters do not say, and the pod may have outlived that Node since. */
  readonly issuedOn: string | undefined;
}

interface AuthenticatorPorts {
  readonly reviews: TokenReviewPort;
  /** Of the operator's own namespace. */
  readonly pods: Pick<Collection<Pod>, 'get'>;
  readonly nodes: Pick<Collection<Node>, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The operator's own namespace. */
  readonly namespace: string;
}

/**
 * Finds out which agent a request comes from. It asks the API server about a token at most once in about ten seconds, and about few tokens
 * at a time: a caller that sends many made-up tokens delays only itself.
 */
export class Authenticator {
  readonly #ports: AuthenticatorPorts;
  /** By hash: no token stays in memory. */
  readonly #verified: ExpiringCache<TokenOwner>;
  /** By name: the UIDs of Nodes as they are, where tokens do not tell. */
  readonly #nodes: ExpiringCache<string | undefined>;

  /** By hash: tokens that were good when they were last reviewed. */
  readonly #known = new BoundedMap<string, true>(MAX_TOKENS);
  readonly #limiter = new FairLimiter(REVIEWS);

  constructor(ports: AuthenticatorPorts) {
    this.#ports = ports;
    const kept = { clock: ports.clock, random: ports.random, ttlMs: TTL_MS, maxEntries: MAX_TOKENS };
    this.#verified = new ExpiringCache(kept);
    this.#nodes = new ExpiringCache(kept);
  }

  /**
   * The agent that sent `credentials`: its token names a live agent pod of our namespace, on the node that it speaks for.
   * @param address of the network, from which the request came
   * @throws RefusedError 401 for a token that is no agent's, 403 for one of another node, 503 where too many from that address wait already, 502
   *   or 503 where the Kubernetes API cannot tell; UnreachableError
   */
  async authenticate({ token, nodeName, nodeUid, bootId }: Credentials, address: string): Promise<VerifiedAgent> {
    const hash = createHash('sha256').update(token).digest('base64');
    const owner = await this.#verified.get(hash, () => this.#verify(token, { hash, address }));
    if (owner.nodeName !== nodeName)
      throw new RefusedError(403, 'Forbidden', 'the token belongs to an agent on another node');
    if (owner.issuedOn !== nodeUid && (await this.#uidOf(nodeName)) !== nodeUid)
      throw new RefusedError(403, 'Forbidden', 'the node was replaced or deleted');
    return { nodeName, nodeUid, bootId };
  }

  /** The pod runs on the Node that has the name now: a Node may be made anew under its name, and the token names the earlier one for an hour. */
  async #uidOf(nodeName: string): Promise<string | undefined> {
    try {
      return await this.#nodes.get(nodeName, async () => (await this.#ports.nodes.get(nodeName))?.metadata.uid);
    } catch (error) {
      throw unanswered(error);
    }
  }

  /** A token that was good before has places of its own, because a stranger may share its address. */
  async #verify(
    token: string,
    { hash, address }: { readonly hash: string; readonly address: string },
  ): Promise<TokenOwner> {
    const why = precheckToken(token, this.#ports.namespace);
    if (why !== undefined) throw unauthorized(why);
    const party = this.#known.get(hash) ? hash : address;
    try {
      const review = await this.#limiter.run(party, () => this.#ports.reviews.review(token, TOKEN_AUDIENCE));
      const owner = await this.#ownerOf(review);
      this.#known.set(hash, true);
      return owner;
    } catch (error) {
      throw unanswered(error);
    }
  }

  async #ownerOf(review: TokenReviewStatus): Promise<TokenOwner> {
    const { pods, namespace } = this.#ports;
    const claims = accepted(agentClaims(review, namespace));
    const { nodeName } = accepted(agentNode(await pods.get(claims.podName), claims));
    // Whether this Node is still there is asked where something is done to it or for it: a write is refused for another UID.
    return { nodeName, issuedOn: claims.nodeUid };
  }
}

function accepted<T extends object>(found: T | string): T {
  if (typeof found === 'string') throw unauthorized(found);
  return found;
}

/** Nobody knows yet who asks, so the Kubernetes API's own words go only to the log. */
function unanswered(error: unknown): unknown {
  if (!(error instanceof ApiStatusError)) return error;
  return kubernetesRefusal(error, 'the Kubernetes API cannot say whose the token is');
}

const unauthorized = (message: string): RefusedError => new RefusedError(401, 'Unauthorized', message);
