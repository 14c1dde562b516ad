import { agentRuns, ownShadow } from '../../controller/writing/actions/ports.ts';
import { isAtRest } from '../../controller/plan/facts/phase.ts';
import { permitsOn } from '../../controller/permits/entries.ts';
import { NotFoundError } from '../../kube/errors.ts';
import { shadowsOf } from '../../api/resources.ts';
import type { Node } from '../../kube/objects.ts';
import { leasesOf, NODES_PATH, podsOf } from '../../kube/resources.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { UNRELEASED_ANNOTATION } from '../../api/marks/names.ts';
import { type NodePatch, releasePatch } from '../../api/marks/patches.ts';
import { taintPatch, WAITING_TAINT } from '../../api/marks/taints.ts';
import { CONTROLLER_LEASE, shadowName } from '../../api/shadow/names.ts';
import { isSemver } from '../../api/shadow/semver.ts';
import { type Cluster, type Command, RefusedCommandError, type CommandRequest } from '../command.ts';
import { NAME } from '../help.ts';
import { howToUndo } from './leftovers.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import { ifAllowed } from '../reading.ts';
import { versionIn } from '../known-releases.ts';
import { CHANGE_OPTIONS, patchObject, type Change, changeEach, isDryRun, SELECTOR_OPTION } from '../change.ts';

export const cleanup: Command = {
  name: 'cleanup',
  alias: 'release',
  args: 'NODE...',
  summary: 'undo what the operator has left on nodes where no update runs',
  details: `Use it for marks in the output of leftovers, where no controller runs that would undo them. It undoes exactly what the marks list, and takes away the taint waiting. It does
not remove a cordon without marks: run kubectl uncordon.`,
  options: { ...SELECTOR_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: async (request) => {
    const cluster = await connectToOperator(request);
    const permitted = await permitHolders(cluster);
    return changeEach(request, 'node', (name) =>
      releaseNode({ request, cluster, permitted }, name).catch(explainVersion(name)),
    );
  },
};

/** Who says "release 1.2.0" means another command. */
const explainVersion =
  (name: string) =>
  (error: unknown): never => {
    const isMissing = error instanceof RefusedCommandError && error.cause instanceof NotFoundError;
    if (!isMissing || !isSemver(versionIn(name))) throw error;
    const instead = `did you mean ${NAME} releases, halt, allow or clear ${versionIn(name)}?`;
    throw new RefusedCommandError(`that is a version, and no node of the cluster: ${instead}`, { cause: error });
  };

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  /** UIDs of the nodes that have a permit, because their update is not over. */
  readonly permitted: ReadonlySet<string>;
}

/** By the Lease, or by nothing where the user may not read it: a shadow that is not at rest says the same. */
async function permitHolders({ transport, namespace }: Cluster): Promise<ReadonlySet<string>> {
  const { value } = await ifAllowed(leasesOf(transport, namespace).get(CONTROLLER_LEASE), undefined);
  return new Set(permitsOn(value).map(({ nodeUid }) => nodeUid));
}

async function releaseNode({ request, cluster, permitted }: Session, name: string): Promise<Change> {
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  let owned: readonly string[] = [];
  const changed = await patchObject(cluster, target, async (object) => {
    const node = object as Node;
    const marks = readMarks(node);
    const untainted = taintPatch(node, WAITING_TAINT, false);
    if (!marks && !untainted) return expectNothingLeft(node);
    owned = [...(marks?.owns ?? []), ...(untainted ? [TAINT] : [])];
    await expectAtRest(cluster, node, permitted);
    return together(releasePatch(node), untainted);
  });
  if (!changed) return { object: target.called, changed, says: 'has nothing of the operator on it', undo: undefined };
  const says = `is cleaned up: ${owned.length > 0 ? owned.join(', ') : 'nothing but the marks'} undone`;
  return {
    object: target.called,
    changed,
    says,
    undo: owned.includes('cordon') ? `kubectl cordon ${name}` : undefined,
  };
}

const TAINT = `taint ${WAITING_TAINT.key}`;

const together = (released: NodePatch | undefined, untainted: NodePatch | undefined): NodePatch | undefined =>
  released && untainted ? { ...released, spec: { ...released.spec, ...untainted.spec } } : (released ?? untainted);

/** @throws RefusedCommandError where the node has something that a release cannot undo */
function expectNothingLeft({ metadata, spec }: Node): undefined {
  const { name, annotations } = metadata;
  if (annotations?.[UNRELEASED_ANNOTATION] !== undefined) {
    const noted = annotations[UNRELEASED_ANNOTATION];
    throw new RefusedCommandError(
      `${noted}: ${howToUndo(noted)}; then: kubectl annotate node ${name} ${UNRELEASED_ANNOTATION}-`,
    );
  }
  if (spec?.unschedulable)
    throw new RefusedCommandError(`it is cordoned without marks, by whom nobody can tell: kubectl uncordon ${name}`);
  return undefined;
}

/** Rule M8 (a) and (b): shadow and pods are read live, after the Node. @throws RefusedCommandError */
async function expectAtRest(
  { transport, namespace }: Cluster,
  { metadata: { name, uid } }: Node,
  permitted: ReadonlySet<string>,
): Promise<void> {
  const ports = { shadows: shadowsOf(transport, namespace), pods: podsOf(transport, namespace) };
  const { signal } = new AbortController();
  const shadow = await ownShadow(ports, { shadow: shadowName(name), nodeUid: uid }, signal);
  if (permitted.has(uid) || (shadow && !isAtRest(shadow)))
    throw new RefusedCommandError('it is being updated: why says more');
  if (!shadow && (await agentRuns(ports, name, signal)))
    throw new RefusedCommandError('its agent runs, and has not registered it yet: it is cleaned up by itself');
}
