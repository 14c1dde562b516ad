import { HostUnreachableError } from '../../runtime/agent/hosts/errors.ts';
import { K3os, type K3osOptions } from '../../runtime/agent/hosts/k3os/k3os.ts';
import { CHANNEL_ANNOTATION, VERSION_ANNOTATION } from '../../runtime/api/k3os/names.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { SimulatedHost } from '../../lab/sim/hosts/host.ts';
import type { MemoryDisk } from '../../lab/sim/hosts/k3os/disk.ts';

interface K3osDriverParts extends Omit<K3osOptions, 'files' | 'reboot'> {
  readonly disk: MemoryDisk;
  readonly host: SimulatedHost;
  /** Around all that the driver waits for. */
  readonly asking: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly onReboot: () => void;
}

/** The driver of a simulated k3OS host, without files and processes. */
export function k3osDriver({ disk, host, asking, onReboot, programs, ...rest }: K3osDriverParts): K3os {
  const { files } = disk;
  return new K3os({
    ...rest,
    files: {
      read: (path) => asking(() => files.read(path)),
      write: (path, text) => asking(() => files.write(path, text)),
      linkAt: (path) => asking(() => files.linkAt(path)),
      link: (path, target) => asking(() => files.link(path, target)),
      isDirectory: (path) => asking(() => files.isDirectory(path)),
    },
    programs: { run: (command, timeoutMs) => asking(() => programs.run(command, timeoutMs)) },
    reboot: () =>
      asking(async () => {
        onReboot();
        if (host.isInitAway) throw new HostUnreachableError('init', 'EPERM');
        host.reboot();
      }),
  });
}

/** What a controller of ours says besides the version. */
export function ordered(shadow: ShadowObject): ShadowObject {
  const { version } = shadow.spec;
  const order = { [VERSION_ANNOTATION]: `v${version}`, [CHANNEL_ANNOTATION]: 'github-releases://rancher/k3os' };
  return version == null ? shadow : { ...shadow, metadata: { ...shadow.metadata, annotations: order } };
}
