import { POLICIES_PATH } from '../../api/resources.ts';
import type { ObjectMeta } from '../../kube/objects.ts';
import { NAMESPACES_PATH } from '../../kube/resources.ts';
import { askedText } from '../../api/shadow/asked.ts';
import { PAUSED_ANNOTATION } from '../../api/shadow/names.ts';
import type { Command, CommandRequest } from '../command.ts';
import { NAME } from '../help.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import {
  CHANGE_OPTIONS,
  annotationPatch,
  FIELD_MANAGER,
  answerOf,
  BY_OPTION,
  patchObject,
  type Change,
  changeEach,
  isDryRun,
  requestOf,
} from '../change.ts';

export const pause: Command = {
  name: 'pause',
  args: '[POLICY...]',
  summary: 'start no update, in the fleet or under these policies',
  details: `Without POLICY the whole fleet pauses. A node that has staged its version then keeps its permit and waits; one that was told to drain, and whose
drain has not begun, is called off. Under a paused policy, either is called off, and its permit goes to others. A node whose drain has begun goes on.`,
  options: { ...BY_OPTION, ...CHANGE_OPTIONS },
  maxArgs: Infinity,
  run: (request) => setPaused(request, true),
};

export const resume: Command = {
  name: 'resume',
  args: '[POLICY...]',
  summary: 'let updates start again, in the fleet or under these policies',
  details: `Without POLICY it ends the pause of the fleet. Policies that are paused stay paused.`,
  options: CHANGE_OPTIONS,
  maxArgs: Infinity,
  run: (request) => setPaused(request, false),
};

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  readonly paused: boolean;
}

async function setPaused(request: CommandRequest, paused: boolean) {
  const session = { request, cluster: await connectToOperator(request), paused };
  if (request.names.length === 0) return answerOf(request, [await pauseFleet(session)]);
  return changeEach(request, 'policy', (name) => pausePolicy(session, name));
}

const undoing = (paused: boolean): string => `${NAME} ${paused ? 'resume' : 'pause'}`;

async function pauseFleet({ request, cluster, paused }: Session): Promise<Change> {
  const name = cluster.namespace;
  const target = { path: NAMESPACES_PATH, name, called: `namespace ${name}`, dryRun: isDryRun(request) };
  const value = paused ? askedText(requestOf(request)) : null;
  const changed = await patchObject(cluster, target, (home) => {
    const isPaused = home.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined;
    return isPaused === paused ? undefined : annotationPatch(PAUSED_ANNOTATION, value)(home);
  });
  return {
    object: 'the fleet',
    changed,
    says: paused ? 'is paused, no update starts' : 'is not paused',
    undo: undoing(paused),
  };
}

async function pausePolicy({ request, cluster, paused }: Session, name: string): Promise<Change> {
  const target = { path: POLICIES_PATH, name, called: `policy ${name}`, dryRun: isDryRun(request) };
  let owners: readonly string[] = [];
  const changed = await patchObject(cluster, target, ({ metadata, spec }) => {
    owners = ownersOfPaused(metadata);
    const before = spec != null && 'paused' in spec && spec.paused === true;
    const by = paused ? askedText(requestOf(request)) : null;
    return before === paused ? undefined : { spec: { paused }, metadata: { annotations: { [PAUSED_ANNOTATION]: by } } };
  });
  const now = paused ? 'is paused, no update starts under it' : 'is not paused';
  const until = owners.length === 0 ? '' : `, until ${owners.join(' or ')} applies its spec.paused again`;
  return { object: target.called, changed, says: `${now}${until}`, undo: `${undoing(paused)} ${name}` };
}

/** Who has written `spec.paused` last, other than this program: tools that apply a policy out of git do it again with each sync. */
function ownersOfPaused(metadata: Pick<ObjectMeta, 'managedFields'>): readonly string[] {
  const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => 'f:paused' in (fieldsV1?.['f:spec'] ?? {}));
  return owners.flatMap(({ manager = 'somebody' }) => (manager === FIELD_MANAGER ? [] : [manager]));
}
