import { NODES_PATH } from '../../kube/resources.ts';
import { askedText } from '../../api/shadow/asked.ts';
import { HOLD_ANNOTATION } from '../../api/shadow/names.ts';
import type { Answer, Command, CommandRequest } from '../command.ts';
import { NAME } from '../help.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import {
  CHANGE_OPTIONS,
  annotationPatch,
  BY_OPTION,
  patchObject,
  type Change,
  changeEach,
  isDryRun,
  requestOf,
  SELECTOR_OPTION,
} from '../change.ts';

export const hold: Command = {
  name: 'hold',
  args: 'NODE...',
  summary: 'keep nodes as they are: no update starts there',
  details: `An update that has only staged its version is called off. An update whose drain has begun goes on, and the cordon stays after it.`,
  options: { ...SELECTOR_OPTION, ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: (request) => changeNodes(request, holdNode),
};

export const unhold: Command = {
  name: 'unhold',
  args: 'NODE...',
  summary: 'let held nodes be updated again',
  details: `A cordon that stayed because of the hold is not removed: run kubectl uncordon.`,
  options: { ...SELECTOR_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: (request) => changeNodes(request, unholdNode),
};

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
}

async function changeNodes(
  request: CommandRequest,
  changeOne: (session: Session, name: string) => Promise<Change>,
): Promise<Answer> {
  const cluster = await connectToOperator(request);
  return changeEach(request, 'node', (name) => changeOne({ request, cluster }, name));
}

async function holdNode({ request, cluster }: Session, name: string): Promise<Change> {
  const value = askedText(requestOf(request));
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  const changed = await patchObject(cluster, target, (node) =>
    node.metadata.annotations?.[HOLD_ANNOTATION] === undefined
      ? annotationPatch(HOLD_ANNOTATION, value)(node)
      : undefined,
  );
  return { object: target.called, changed, says: 'is held, no update starts there', undo: `${NAME} unhold ${name}` };
}

async function unholdNode({ request, cluster }: Session, name: string): Promise<Change> {
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  const changed = await patchObject(cluster, target, annotationPatch(HOLD_ANNOTATION, null));
  return { object: target.called, changed, says: 'is not held', undo: `${NAME} hold ${name}` };
}
