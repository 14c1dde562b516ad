import { ConflictError, NotFoundError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { objectPath } from '../../kube/paths.ts';
import { type Cluster, RefusedCommandError } from '../command.ts';

/** One object that is to be changed. */
export interface Target {
  /** Of its collection. */
  readonly path: string;
  readonly name: string;
  /** What it is called to people, e.g. `node a`. */
  readonly called: string;
  /** The API server looks at the write and does not make it. */
  readonly dryRun: boolean;
}

type Changeable = KubeObject & { readonly spec?: object | null };
type Patch = { readonly metadata?: object; readonly spec?: object };

/** Tries until somebody else has not changed the object between a read and the write. */
const TRIES = 5;

/**
 * Reads the object and writes what `patchOf` makes of it, on the version that was read.
 * @param patchOf a merge patch without the resourceVersion; undefined where nothing is to change
 * @returns whether something was written
 * @throws RefusedCommandError where there is no such object, and as `KubeTransport.request`
 */
export async function change(
  { transport }: Cluster,
  target: Target,
  patchOf: (object: Changeable) => Patch | undefined | Promise<Patch | undefined>,
): Promise<boolean> {
  const path = objectPath(target.path, target.name);
  for (let left = TRIES; ; left--) {
    const object = (await transport.request({ method: 'GET', path }).catch(missing(target))) as Changeable;
    const patch = await patchOf(object);
    if (!patch) return false;
    const { resourceVersion } = object.metadata;
    try {
      await transport.request({
        method: 'PATCH',
        path,
        query: { fieldManager: 'kubectl-brupop', ...(target.dryRun && { dryRun: 'All' }) },
        contentType: 'application/merge-patch+json',
        body: { ...patch, metadata: { ...patch.metadata, resourceVersion } },
      });
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError) || left === 1) throw error;
    }
  }
}

const missing =
  ({ called }: Target) =>
  (error: unknown): never => {
    if (error instanceof NotFoundError) throw new RefusedCommandError(`the cluster has no ${called}`, { cause: error });
    throw error;
  };

/** The patch that gives an annotation this value, or takes it away where that is null; undefined where that is so already. */
export function annotation(name: string, value: string | null) {
  return ({ metadata: { annotations } }: KubeObject): Patch | undefined => {
    const before = annotations?.[name];
    const isSo = value === null ? before === undefined : before === value;
    return isSo ? undefined : { metadata: { annotations: { [name]: value } } };
  };
}
