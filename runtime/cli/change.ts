import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/objects.ts';
import { objectPath } from '../kube/paths.ts';
import type { Asked } from '../api/shadow/asked.ts';
import { rfc3339 } from '../lib/clock.ts';
import { commandLine } from './arguments.ts';
import { type Answer, EXIT, type Options, RefusedCommandError, type CommandRequest } from './command.ts';
import { explain, rolesFor } from './errors.ts';
import type { OperatedCluster } from './operator.ts';
import { paint } from './output/terminal.ts';

/** The object that is patched. */
export interface Target {
  /** The path of its collection. */
  readonly path: string;
  readonly name: string;
  /** Its name in messages, e.g. `node a`. */
  readonly called: string;
  /** The API server validates the patch and does not store it. */
  readonly dryRun: boolean;
  /** The subresource that is patched, e.g. `status`. */
  readonly of?: string;
}

type Changeable = KubeObject & { readonly spec?: object | null };
type Patch = { readonly metadata?: object; readonly spec?: object; readonly status?: object };

export const FIELD_MANAGER = 'kubectl-brupop';

/** Most attempts while others change the object between our read and our write. */
const ATTEMPTS = 5;

/**
 * Reads the object, and patches it with the resourceVersion that it read.
 * @param patchOf returns a merge patch without the resourceVersion, or undefined where nothing has to change
 * @returns whether something was written
 * @throws RefusedCommandError where there is no such object, and as `KubeTransport.request`
 */
export async function patchObject(
  { transport }: OperatedCluster,
  target: Target,
  patchOf: (object: Changeable) => Patch | undefined | Promise<Patch | undefined>,
): Promise<boolean> {
  const path = objectPath(target.path, target.name);
  for (let left = ATTEMPTS; ; left--) {
    const object = (await transport.request({ method: 'GET', path }).catch(missing(target))) as Changeable;
    const patch = await patchOf(object);
    if (!patch) return false;
    const { resourceVersion } = object.metadata;
    try {
      await transport.request({
        method: 'PATCH',
        path: objectPath(target.path, target.name, target.of),
        query: queryOf(target),
        contentType: 'application/merge-patch+json',
        body: { ...patch, metadata: { ...patch.metadata, resourceVersion } },
      });
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError) || left === 1) throw error;
    }
  }
}

const queryOf = ({ dryRun }: Pick<Target, 'dryRun'>): Readonly<Record<string, string>> => ({
  fieldManager: FIELD_MANAGER,
  ...(dryRun && { dryRun: 'All' }),
});

interface Created extends Pick<Target, 'path' | 'dryRun'> {
  readonly object: object;
}

/** @throws as `KubeTransport.request` */
export async function createObject({ transport }: OperatedCluster, { path, object, dryRun }: Created): Promise<void> {
  await transport.request({ method: 'POST', path, query: queryOf({ dryRun }), body: object });
}

const missing =
  ({ called }: Target) =>
  (error: unknown): never => {
    if (error instanceof NotFoundError) throw new RefusedCommandError(`the cluster has no ${called}`, { cause: error });
    throw error;
  };

/** A patch that sets the annotation, or removes it where `value` is null. It is undefined where the annotation is so already. */
export function annotationPatch(name: string, value: string | null) {
  return ({ metadata: { annotations } }: KubeObject): Patch | undefined => {
    const before = annotations?.[name];
    const isSo = value === null ? before === undefined : before === value;
    return isSo ? undefined : { metadata: { annotations: { [name]: value } } };
  };
}

/** What a command did to one object. */
export interface Change {
  /** e.g. `node a`. */
  readonly object: string;
  /** False where nothing had to be written. */
  readonly changed: boolean;
  /** The state of the object now, in words. */
  readonly says: string;
  /** The command that undoes it, without the options of the cluster; undefined where nothing can be undone. */
  readonly undo: string | undefined;
}

interface Failed {
  readonly object: string;
  readonly error: unknown;
}

export const CHANGE_OPTIONS: Options = {
  'dry-run': { type: 'boolean', help: 'let the API server check the write without storing it' },
};

/** Of commands that take nodes. `parseInvocation` and `runProgram` know it by its name. */
export const SELECTOR_OPTION: Options = {
  selector: {
    type: 'string',
    short: 'l',
    value: 'LABELS',
    help: 'the nodes with these labels, instead of names, e.g. pool=db, as with kubectl',
  },
};

export const BY_OPTION: Options = {
  by: { type: 'string', value: 'WORDS', help: 'who asks, and why; by default your user name' },
};

/** Who asks, and why. The text becomes the value of an annotation, which everybody may read. */
export const requesterOf = ({ values, user }: Pick<CommandRequest, 'values' | 'user'>): string =>
  String(values['by'] ?? user);

/** The same, and when. */
export const requestOf = (request: Pick<CommandRequest, 'values' | 'user' | 'clock'>): Required<Asked> => ({
  by: requesterOf(request),
  at: rfc3339(request.clock.now()),
});

export const isDryRun = ({ values }: Pick<CommandRequest, 'values'>): boolean => values['dry-run'] === true;

/**
 * Changes the named objects one after the other. A failure on one does not stop the others.
 * @throws RefusedCommandError where every object failed
 */
export const changeEach = (
  request: CommandRequest,
  called: string,
  changeOne: (name: string) => Promise<Change>,
): Promise<Answer> =>
  changeAll(
    request,
    request.names.map((name) => ({ object: `${called} ${name}`, change: () => changeOne(name) })),
  );

interface Wanted extends Pick<Change, 'object'> {
  readonly change: () => Promise<Change>;
}

/** The same for changes that are known already. */
export async function changeAll(request: CommandRequest, wanted: readonly Wanted[]): Promise<Answer> {
  const results: (Change | Failed)[] = [];
  for (const { object, change } of wanted) {
    results.push(await change().catch((error: unknown) => ({ object, error })));
  }
  return answerOf(request, results);
}

/** @throws RefusedCommandError where every object failed */
export function answerOf(request: CommandRequest, results: readonly (Change | Failed)[]): Answer {
  const changes = results.filter((one) => 'changed' in one).map((one) => withUndo(one, request));
  const failed = results.filter((one) => 'error' in one);
  const failures = [...failed.map(failureText), ...rolesForAll(failed)];
  if (changes.length === 0) throw new RefusedCommandError(failures.join('\n'));
  const dryRun = isDryRun(request);
  return {
    value: { dryRun, done: changes, failed: failed.map(({ object, error }) => ({ object, error: explain(error) })) },
    lines: (terminal) => [
      ...changes.flatMap(changeLines),
      ...failures.map((line) => paint(terminal, 'bad', line)),
      ...(dryRun ? ['Nothing was written: --dry-run.'] : []),
    ],
    exitCode: failed.length > 0 ? EXIT.failed : EXIT.ok,
  };
}

const withUndo = (change: Change, { values }: CommandRequest): Change =>
  Object.assign({}, change, { undo: change.undo === undefined ? undefined : commandLine(change.undo, values) });

const failureText = ({ object, error }: Failed): string => `${object}: ${explain(error)}`;

/** Which roles to ask for, once for all objects. */
const rolesForAll = (failed: readonly Failed[]): readonly string[] =>
  failed
    .map(({ error }) => rolesFor(error))
    .filter((line) => line !== undefined)
    .slice(0, 1);

function changeLines({ object, changed, says, undo }: Change): readonly string[] {
  const lines = [`${object}: ${says}${changed ? '' : ' (already so)'}`];
  return undo === undefined || !changed ? lines : [...lines, `  undo: ${undo}`];
}
