import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedHost } from './host.ts';
import { ProgramServer } from './program-server.ts';

/** The host's own programs, by their paths there. */
const PROGRAMS = ['usr/bin/updog', 'usr/bin/signpost', 'usr/sbin/shutdown'];

/** Loaders of both architectures, in front of the host's chroot: here both are scripts that run what follows. */
const LOADERS = ['lib64/ld-linux-x86-64.so.2', 'lib64/ld-linux-aarch64.so.1'];
const LOADER = '#!/bin/sh\nshift 2\nexec "$@"\n';
const CHROOT = `#!/bin/sh
root="$1"
path="$2"
shift 2
if [ ! -e "$root$path" ]; then
  echo "chroot: failed to run command '$path': No such file or directory" >&2
  exit 127
fi
exec "$root$path" "$@"
`;

/** A simulated host's root as a folder of this machine, with its programs as files that can be executed. */
export class HostRoot {
  readonly #host: SimulatedHost;
  readonly #dir: string;
  readonly #programs: ProgramServer;
  #unobserve: (() => void) | undefined;
  #written: Promise<void> = Promise.resolve();

  /** @param dir a short path, since it holds a unix socket */
  constructor(host: SimulatedHost, dir: string) {
    this.#host = host;
    this.#dir = dir;
    this.#programs = new ProgramServer(host, dir);
  }

  /** Resolves when the programs can be run. */
  async start(): Promise<void> {
    for (const path of LOADERS) await this.#programs.write(path, LOADER, 0o755);
    await this.#programs.write('bin/chroot', CHROOT, 0o755);
    await this.#writeOsRelease();
    this.#unobserve = this.#host.observe({
      onUp: () => {
        this.#written = this.#written.then(() => this.#writeOsRelease());
      },
    });
    await this.#programs.start(PROGRAMS);
  }

  /** Ends all programs and removes the folder. */
  async stop(): Promise<void> {
    this.#unobserve?.();
    await this.#written;
    await this.#programs.stop();
  }

  /** Whoever reads it finds the whole of one version. */
  async #writeOsRelease(): Promise<void> {
    const path = 'usr/lib/os-release';
    await this.#programs.write(`${path}.new`, this.#host.osRelease, 0o644);
    await rename(join(this.#dir, `${path}.new`), join(this.#dir, path));
  }
}
