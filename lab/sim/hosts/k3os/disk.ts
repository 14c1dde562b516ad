import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { HostUnreachableError } from '../../../../runtime/agent/hosts/errors.ts';
import type { HostFiles } from '../../../../runtime/agent/hosts/k3os/files.ts';

/** The files of a k3OS host, by their paths there. */
export interface K3osDisk {
  /** Undefined where there is none. */
  read(path: string): string | undefined;
  write(path: string, text: string): void;
  linkAt(path: string): string | undefined;
  /** Removes what was there. */
  link(path: string, target: string): void;
  remove(path: string): void;
  /** Lets whoever has mounted it write its system, where that was not so. */
  remount?(): void;
}

/** Without files of this machine, for any clock. */
export class MemoryDisk implements K3osDisk {
  readonly #files = new Map<string, string>();
  readonly #links = new Map<string, string>();
  /** For whoever reaches it by `files`, as the system of a host is for each new container. */
  isReadOnly = false;

  read(path: string): string | undefined {
    return this.#files.get(path);
  }

  write(path: string, text: string): void {
    this.#files.set(path, text);
  }

  linkAt(path: string): string | undefined {
    return this.#links.get(path);
  }

  link(path: string, target: string): void {
    this.#links.set(path, target);
  }

  remove(path: string): void {
    this.#files.delete(path);
    this.#links.delete(path);
  }

  remount(): void {
    this.isReadOnly = false;
  }

  /** As the driver reaches it. */
  get files(): HostFiles {
    return {
      read: async (path) => this.read(path),
      write: async (path, text) => this.write(path, text),
      linkAt: async (path) => this.linkAt(path),
      link: async (path, target) => {
        if (this.isReadOnly) throw new HostUnreachableError(path, 'EROFS');
        this.link(path, target);
      },
      isDirectory: async (path) => [...this.#links.keys()].some((link) => link.startsWith(`${path}/`)),
    };
  }
}

/** In a folder of this machine. */
export class FolderDisk implements K3osDisk {
  readonly #root: string;
  constructor(root: string) {
    this.#root = root;
  }

  read(path: string): string | undefined {
    const file = join(this.#root, path);
    return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : undefined;
  }

  write(path: string, text: string): void {
    writeFileSync(this.#madeFor(path), text);
  }

  linkAt(path: string): string | undefined {
    const file = join(this.#root, path);
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(file) : undefined;
  }

  link(path: string, target: string): void {
    this.remove(path);
    symlinkSync(target, this.#madeFor(path));
  }

  remove(path: string): void {
    rmSync(join(this.#root, path), { force: true });
  }

  #madeFor(path: string): string {
    const file = join(this.#root, path);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  }
}
