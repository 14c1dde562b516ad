import { ConflictError, isDefinite, MissingPermissionError, NotFoundError } from '../kube/errors.ts';
import type { ShadowObject } from '../api/resources.ts';
import type { AgentStatus, Status } from '../api/shadow/model.ts';
import { API_VERSION, KIND, shadowName } from '../api/shadow/names.ts';
import { parseAgentStatus } from '../api/shadow/parse.ts';
import type { State } from '../api/shadow/states.ts';
import type { VerifiedAgent } from './auth/authenticator.ts';
import type { Ports } from './ports.ts';
import { type AheadPorts, preflightAhead } from './drain/ahead.ts';
import { displacedOnReturn } from './drain/displaced.ts';
import { notAllowed, RefusedError } from './refusal.ts';
import { tellRefusedReport } from './refused-writes.ts';
import { expectNode, expectOwnShadow, retryOnConflict } from './snapshot.ts';
import { dependsOnStored, statusPatch, type Stored } from './status-patch.ts';

type ShadowPorts = Pick<Ports, 'nodes' | 'shadows' | 'namespace'>;

/** The shadow of the agent's node, created where there is none. @throws RefusedError 409 where the node is gone, or the name is another's */
export async function createShadow(ports: ShadowPorts, agent: VerifiedAgent): Promise<ShadowObject> {
  return retryOnConflict(async () => {
    // One of a node that is gone would be deleted as soon as it is made.
    await expectNode(ports, agent);
    try {
      return await ports.shadows.create(newShadow(agent, ports.namespace));
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return expectOwnShadow(ports, agent);
    }
  });
}

/** Owned by the Node, and so deleted with it. */
function newShadow({ nodeName, nodeUid }: VerifiedAgent, namespace: string): object {
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: {
      name: shadowName(nodeName),
      namespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid }],
    },
    spec: { state: 'Idle' },
  };
}

export interface StatusReport {
  readonly agent: VerifiedAgent;
  /** The status as it was sent. */
  readonly status: unknown;
  /** resourceVersion of the shadow that the agent acted on; undefined where it does not say, as older agents do not. */
  readonly version: string | undefined;
  /** What was reached in that one; undefined where it does not say. */
  readonly state?: State | undefined;
}

/**
 * Merges a status into the agent's shadow. A status that was made from an older shadow must not be merged, so the version that it was made
 * from goes into the patch.
 * @returns the whole status
 * @throws InvalidShadowError; RefusedError 409 for an older version, and where there is no shadow of this node; RefusedError 502
 * (StatusRefused) where the Kubernetes API never takes such a status
 */
export async function putStatus(
  ports: ShadowPorts & AheadPorts & Pick<Ports, 'events'>,
  { agent, status, version, state }: StatusReport,
): Promise<Status> {
  const sent = parseAgentStatus(status);
  const put = async (): Promise<Status> => {
    const { resourceVersion, ...stored } = await storedFor(ports, agent, { sent, version, state });
    if (version !== undefined && version !== resourceVersion) throw outdated();
    const seen = { sent, before: stored.status?.current_state };
    const looked = { ...(await displacedOnReturn(ports, sent, stored)), ...(await preflightAhead(ports, agent, seen)) };
    const patch = { metadata: { resourceVersion }, status: { ...statusPatch(sent, stored), ...looked } };
    const write = ports.shadows.patchStatus(shadowName(agent.nodeName), patch);
    return (await write.catch((error: unknown) => refuse(ports, agent, error))).status as Status;
  };
  if (version === undefined) return retryOnConflict(put);
  try {
    return await put();
  } catch (error) {
    if (error instanceof NotFoundError) throw notAllowed('the node has no BottlerocketShadow');
    throw error instanceof ConflictError ? outdated() : error;
  }
}

interface StoredShadow extends Stored {
  readonly resourceVersion: string;
}

/**
 * The stored shadow that the status is merged into. It is read only where the merge needs its fields: the write itself checks its version, and with
 * that what the agent says of it, and this replica has seen whose it is.
 */
async function storedFor(
  ports: ShadowPorts,
  agent: VerifiedAgent,
  { sent, version, state }: Pick<StatusReport, 'version' | 'state'> & { readonly sent: AgentStatus },
): Promise<StoredShadow> {
  const name = shadowName(agent.nodeName);
  if (version !== undefined && ports.shadows.wasOf(name, agent.nodeUid)) {
    if (!dependsOnStored(sent, state))
      return { resourceVersion: version, spec: { state: 'Idle' }, ...(state && { status: { current_state: state } }) };
    // Who is back from its reboot is drained no more, so that what its drain has displaced is as it was.
    const known = ports.shadows.recent(name);
    if (state === 'RebootedIntoUpdate' && known?.status?.current_state === state)
      return { ...known, resourceVersion: version };
  }
  const { metadata, spec, status } = await expectOwnShadow(ports, agent, version);
  return { resourceVersion: metadata.resourceVersion, spec, status };
}

function outdated(): RefusedError {
  return new RefusedError(409, 'Conflict', 'the BottlerocketShadow has changed since; look again');
}

/** Codes of schemas and admission policies. Where a webhook gives no code, the API server answers 400. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/**
 * Tells people, and the agent, that its status is refused for good, apart from what may pass, such as a right that we lack, and from what is wrong
 * with its token.
 */
async function refuse(ports: Pick<Ports, 'nodes' | 'events'>, agent: VerifiedAgent, error: unknown): Promise<never> {
  const isOfStatus = isDefinite(error) && !(error instanceof MissingPermissionError) && REFUSALS.has(error.status.code);
  if (!isOfStatus) throw error;
  const node = await ports.nodes.get(agent.nodeName).catch(() => undefined);
  if (node) tellRefusedReport(ports, node, error);
  throw new RefusedError(502, 'StatusRefused', error.message);
}
