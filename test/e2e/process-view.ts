import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Pod } from '../../runtime/kube/objects.ts';
import { podEnv } from '../../lab/sim/world/pod-template.ts';

/** What a running process has, as the kernel tells of it. */
export class ProcessView {
  readonly #proc: string;

  constructor(pid: number) {
    this.#proc = `/proc/${pid}`;
  }

  command(): readonly string[] {
    return this.#words('cmdline');
  }

  /** Variables that it has and its pod does not state, or the other way round, or with another value. */
  variablesBeside(pod: Pod): readonly string[] {
    const stated = podEnv(pod);
    const own = Object.fromEntries(
      this.#words('environ').map((word) => [word.split('=')[0] ?? '', word.slice(word.indexOf('=') + 1)]),
    );
    return Object.keys({ ...stated, ...own })
      .filter((name) => stated[name] !== own[name])
      .toSorted();
  }

  /** Names in a folder, by the path that the process uses; none where there is no such folder. */
  names(path: string): readonly string[] {
    const folder = `${this.#proc}/root${path}`;
    const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
    return isFolder
      ? readdirSync(folder)
          .filter((name) => !name.startsWith('..'))
          .toSorted()
      : [];
  }

  /** Whether the process could write into what is mounted there. @throws Error where nothing is */
  isWritable(path: string): boolean {
    const mount = readFileSync(`${this.#proc}/mounts`, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, target]) => target === path);
    if (!mount) throw new Error(`nothing is mounted on ${path}`);
    return mount[3]?.split(',').includes('rw') ?? false;
  }

  #words(file: string): readonly string[] {
    return readFileSync(`${this.#proc}/${file}`, 'utf8').split('\0').filter(Boolean);
  }
}
