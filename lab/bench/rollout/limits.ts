import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { amountOf } from '../../../runtime/lib/resource-quantity.ts';
import { containerOf } from '../../sim/world/pod-template.ts';

const V2 = '/sys/fs/cgroup';
const isV2 = existsSync(join(V2, 'cgroup.controllers'));
const ROOT = isV2 ? V2 : join(V2, 'memory');
const LIMIT = isV2 ? 'memory.max' : 'memory.limit_in_bytes';

/** Memory cgroups, one for each container that starts, with the limit that its pod states. Needs root. */
export class ContainerLimits {
  readonly #dir: string;
  #containers = 0;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async create(): Promise<ContainerLimits> {
    return new ContainerLimits(await mkdtemp(join(ROOT, 'brupop-bench-')));
  }

  /** Words of a command that runs the words after it within the pod's limit. */
  readonly enter = (pod: Pod): readonly string[] => {
    const script = 'mkdir "$0" && echo "$1" > "$0/$2" && echo $$ > "$0/cgroup.procs" && shift 2 && exec "$@"';
    const cgroup = join(this.#dir, `${pod.metadata.name}-${this.#containers++}`);
    return ['/bin/sh', '-ec', script, cgroup, String(memoryLimit(pod)), LIMIT];
  };

  /** Once their processes have ended. */
  async remove(): Promise<void> {
    const entries = await readdir(this.#dir, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) await rmdir(join(this.#dir, entry.name));
    await rmdir(this.#dir);
  }
}

/** @throws Error where the pod states none */
function memoryLimit(pod: Pod): number {
  const bytes = amountOf(containerOf(pod)?.resources?.limits?.memory);
  if (bytes === 0) throw new Error(`pod ${pod.metadata.name} states no limit of memory`);
  return bytes;
}
