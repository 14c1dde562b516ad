import { NODES_PATH } from '../../kube/resources.ts';
import { HOLD_ANNOTATION } from '../../shadow/names.ts';
import type { Command, Request } from '../command.ts';
import { NAME } from '../help.ts';
import { annotation, change } from './change.ts';
import { ACTING, answerOf, BY, type Deed, done, isDryRun, wordsOf } from './deeds.ts';

export const hold: Command = {
  name: 'hold',
  takes: 'NODE...',
  summary: 'keep nodes as they are: no update starts there',
  details: `An update that has only staged its version is called off. One whose drain has begun goes on, and the cordon then stays.`,
  options: { ...BY, ...ACTING },
  least: 1,
  most: Infinity,
  run: async (request) => answerOf(request, await done(request, 'node', (name) => held(request, name))),
};

export const unhold: Command = {
  name: 'unhold',
  takes: 'NODE...',
  summary: 'let held nodes be updated again',
  details: `A cordon that stayed because of the hold is yours: kubectl uncordon.`,
  options: ACTING,
  least: 1,
  most: Infinity,
  run: async (request) => answerOf(request, await done(request, 'node', (name) => letGo(request, name))),
};

async function held(request: Request, name: string): Promise<Deed> {
  const value = wordsOf(request);
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  const changed = await change(await request.connect(), target, (node) =>
    node.metadata.annotations?.[HOLD_ANNOTATION] === undefined ? annotation(HOLD_ANNOTATION, value)(node) : undefined,
  );
  return { object: target.called, changed, says: 'is held, no update starts there', undo: `${NAME} unhold ${name}` };
}

async function letGo(request: Request, name: string): Promise<Deed> {
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  const changed = await change(await request.connect(), target, annotation(HOLD_ANNOTATION, null));
  return { object: target.called, changed, says: 'is not held', undo: `${NAME} hold ${name}` };
}
