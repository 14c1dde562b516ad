import { join } from 'node:path';
import type { Clock } from '../../runtime/lib/clock.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../runtime/shadow/names.ts';
import { isFaultName } from '../hosts/faults.ts';
import { SimulatedHost } from '../hosts/host.ts';
import { Releases } from '../hosts/releases.ts';
import { DEFAULT_TIMES, type HostTimes } from '../hosts/times.ts';
import type { Kubernetes } from '../kubernetes/main.ts';
import type { SimOptions } from '../options.ts';
import { SimulatedNode } from './node.ts';

export interface FleetOptions {
  readonly options: SimOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly kubernetes: Kubernetes;
  /** Folder for the hosts' files. */
  readonly dir: string;
}

/** The nodes by name, node-1 to node-N, each with the faults that were planted on it. Nothing runs yet. */
export function createFleet({
  options,
  clock,
  random,
  kubernetes,
  dir,
}: FleetOptions): ReadonlyMap<string, SimulatedNode> {
  const releases = new Releases([options.from, options.to]);
  const times = scaled(options.speed);
  const names = Array.from({ length: options.nodes }, (_, index) => `node-${index + 1}`);
  return new Map(
    names.map((name) => {
      const host = new SimulatedHost({ clock, random, releases, version: options.from, times });
      const fault = options.faults.get(name);
      if (fault !== undefined && isFaultName(fault)) host.inject(fault);
      const kubelet = kubernetes.kubelet(name, { [MANAGED_LABEL]: MANAGED_LABEL_VALUE });
      return [name, new SimulatedNode({ host, kubelet, dir: join(dir, name) })];
    }),
  );
}

/** The hosts' own times, so many times faster than life. */
function scaled(speed: number): HostTimes {
  const { spread, ...times } = DEFAULT_TIMES;
  const faster = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, ms / speed]));
  return { ...DEFAULT_TIMES, ...faster, spread };
}
