import { join } from 'node:path';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { isFaultName } from '../hosts/faults.ts';
import { SimulatedHost } from '../hosts/host.ts';
import { FolderDisk } from '../hosts/k3os/disk.ts';
import { KIND_LABELS } from '../hosts/kinds.ts';
import { Releases } from '../hosts/releases.ts';
import { DEFAULT_TIMES, type HostTimes } from '../hosts/times.ts';
import type { NodeSoftware } from '../kubernetes/kubelet/kubelet.ts';
import type { SimOptions } from '../options.ts';
import type { UpdateSettings } from '../hosts/settings.ts';
import { SimulatedNode } from './node.ts';
import { inWaves, seedAt } from './waves.ts';

export interface FleetOptions {
  readonly options: SimOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** What runs on a node of this name, that registers with these labels. */
  readonly kubelet: (nodeName: string, labels: Readonly<Record<string, string>>) => NodeSoftware;
  /** Folder for the hosts' files. */
  readonly dir: string;
  /** What all hosts are offered. @default the versions of the options */
  readonly releases?: Releases;
  /** Of the host at this place of the fleet. @default those of the simulated host, with the seeds of waves where there are some */
  readonly settings?: ((index: number) => Partial<UpdateSettings>) | undefined;
  /** What of the hosts' own times is other than at the speed of the options. */
  readonly times?: Partial<HostTimes> | undefined;
}

/** The nodes by name, node-1 to node-N, each with the faults that were planted on it. Nothing runs yet. */
export function createFleet({
  options,
  clock,
  random,
  kubelet,
  dir,
  releases = releasesOf(options, clock.now()),
  settings = (index) => (options.waves ? { seed: seedAt(index) } : {}),
  times: asked,
}: FleetOptions): ReadonlyMap<string, SimulatedNode> {
  const times = { ...scaled(options.speed), ...asked };
  return new Map(
    nodeNames(options.nodes).map((name, index) => {
      const { hosts = ['bottlerocket'] } = options;
      const kind = hosts[index % hosts.length] ?? 'bottlerocket';
      const disk = new FolderDisk(join(dir, name, 'root'));
      const has = async (_: string, tag: string): Promise<boolean> => releases.has(tag.replace(/^v/, ''));
      const k3os = kind === 'k3os' ? { disk, has } : undefined;
      const host = new SimulatedHost({
        clock,
        random,
        releases,
        version: options.from,
        times,
        settings: settings(index),
        k3os,
      });
      const fault = options.faults.get(name);
      if (fault !== undefined && isFaultName(fault)) host.inject(fault);
      const software = kubelet(name, KIND_LABELS[kind]);
      return [name, new SimulatedNode({ host, kind, kubelet: software, dir: join(dir, name) })];
    }),
  );
}

/** The versions of the options. @param now milliseconds since the Unix epoch, at which the newer one is published */
export function releasesOf({ from, to, waves }: SimOptions, now: number): Releases {
  const releases = new Releases([from, to]);
  if (waves) releases.publish(inWaves(to, now));
  return releases;
}

/** node-1 to node-N. */
export function nodeNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `node-${index + 1}`);
}

/** The hosts' own times, so many times faster than life. */
function scaled(speed: number): HostTimes {
  const { spread, ...times } = DEFAULT_TIMES;
  const faster = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, ms / speed]));
  return { ...DEFAULT_TIMES, ...faster, spread };
}
