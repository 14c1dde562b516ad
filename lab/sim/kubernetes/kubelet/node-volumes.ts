import { collectionPath, objectPath } from '../../../../runtime/kube/paths.ts';
import type { Pod } from '../../../../runtime/kube/objects.ts';
import { mergePatch } from '../pods.ts';
import { type ApiAccess, insist } from './insist.ts';

/** From a pod's end until its volumes are unmounted, and the Node says so, milliseconds. */
const UNMOUNT_MS = 500;

export interface NodeVolumesOptions extends ApiAccess {
  readonly nodeName: string;
}

/**
 * What a kubelet has in use of volumes that can be attached, as its Node's `status.volumesInUse` has it: from before a pod runs until some
 * time after it is gone, because the device is unmounted after the pod's own mount.
 */
export class NodeVolumes {
  readonly #options: NodeVolumesOptions;
  /** By UID of the pod. */
  readonly #used = new Map<string, readonly string[]>();
  #told = '[]';
  #telling: Promise<unknown> = Promise.resolve();

  constructor(options: NodeVolumesOptions) {
    this.#options = options;
  }

  /** The pod is about to run. */
  async use(pod: Pod, power: AbortSignal): Promise<void> {
    const claims = claimsOf(pod);
    if (claims.length === 0) return;
    const { uid } = pod.metadata;
    this.#used.set(uid, []);
    const names = await whileUp(Promise.all(claims.map((claim) => this.#uniqueName(pod, claim, power))), power);
    // The pod may be gone by now.
    if (names && this.#used.has(uid)) this.#used.set(uid, names);
    await this.#tell(power);
  }

  /** The pod of this UID is gone. A node that goes down meanwhile says nothing any more. */
  async release(uid: string, power: AbortSignal): Promise<void> {
    if (!this.#used.has(uid)) return;
    await whileUp(this.#options.clock.sleep(UNMOUNT_MS, power), power);
    if (power.aborted) return;
    this.#used.delete(uid);
    await this.#tell(power);
  }

  /** After a boot nothing is mounted; what was told before it stands until something else is told. */
  async forget(power: AbortSignal): Promise<void> {
    this.#used.clear();
    await this.#tell(power);
  }

  /** One after the other: the last word is what is true. */
  #tell(power: AbortSignal): Promise<unknown> {
    this.#telling = this.#telling.then(() => this.#write(power));
    return this.#telling;
  }

  async #write(power: AbortSignal): Promise<void> {
    const names = [...new Set([...this.#used.values()].flat())].toSorted();
    const text = JSON.stringify(names);
    if (power.aborted || text === this.#told) return;
    const path = objectPath(collectionPath({ version: 'v1', plural: 'nodes' }), this.#options.nodeName, 'status');
    const body = { status: { volumesInUse: names.length > 0 ? names : null } };
    await whileUp(insist(this.#options, { ...mergePatch(path, body), signal: power }), power);
    if (!power.aborted) this.#told = text;
  }

  async #uniqueName({ metadata: { namespace } }: Pod, claim: string, signal: AbortSignal): Promise<string> {
    const claims = collectionPath({ version: 'v1', plural: 'persistentvolumeclaims', namespace });
    const read = (path: string): Promise<unknown> => insist(this.#options, { method: 'GET', path, signal });
    const { spec } = (await read(objectPath(claims, claim))) as { spec: { volumeName: string } };
    const volumes = collectionPath({ version: 'v1', plural: 'persistentvolumes' });
    const volume = (await read(objectPath(volumes, spec.volumeName))) as {
      spec: { csi: { driver: string; volumeHandle: string } };
    };
    return `kubernetes.io/csi/${volume.spec.csi.driver}^${volume.spec.csi.volumeHandle}`;
  }
}

/** What the power cuts off is no error. */
async function whileUp<T>(work: Promise<T>, power: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!power.aborted) throw error;
    return undefined;
  }
}

function claimsOf({ spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}
