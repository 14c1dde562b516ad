import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessageBody, Model } from '../../runtime/cli/dashboard/wire.ts';

const BUILD = fileURLToPath(new URL('../../build', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `kubectl brupop` as kubectl finds it, on the control plane that `npm run lab -- controlplane exec` has started around this process. */
export class Plugin {
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string) {
    this.#env = { ...process.env, PATH: [folder, process.env['PATH']].join(delimiter) };
  }

  /** Puts it on a PATH as npm does. @param dir folder that is gone with the control plane */
  static async installed(dir: string): Promise<Plugin> {
    const folder = join(dir, 'bin');
    await mkdir(folder);
    for (const name of ['kubectl-brupop', 'kubectl_complete-brupop'])
      await symlink(join(BUILD, `${name}.mjs`), join(folder, name));
    return new Plugin(folder);
  }

  /** kubectl with the plug-in on its PATH. */
  kubectl(...args: readonly string[]): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = execFile('kubectl', args, { env: this.#env }, (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });
  }

  run(...args: readonly string[]): Promise<Outcome> {
    return this.kubectl('brupop', ...args);
  }

  /** What `-o json` gives. @param codes that it may end with */
  async json<T>(args: readonly string[], codes: readonly number[] = [0]): Promise<T> {
    const { code, out, err } = await this.run(...args, '-o', 'json');
    if (!codes.includes(code)) throw new Error(`${args.join(' ')} ended with ${code}: ${out}${err}`);
    return JSON.parse(out) as T;
  }

  /** Interrupts it, as Ctrl-C does, once it has said this. Resolves with the exit code. */
  async watched(args: readonly string[], text: string): Promise<unknown> {
    const child = spawn('kubectl', ['brupop', ...args], { env: this.#env });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes(text)) child.kill('SIGINT');
    });
    const [code] = (await once(child, 'exit')) as unknown[];
    return code;
  }

  /** What the page shows to who opens it now. */
  async page(): Promise<Page> {
    const child = spawn('kubectl', ['brupop', 'dashboard', '--no-open'], { env: this.#env });
    const ended = once(child, 'exit');
    try {
      const address = await found(child.stdout, /http:\S+#token=\S+/);
      const { origin, hash } = new URL(address);
      const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` };
      const { body } = await fetch(`${origin}/api/stream`, { headers });
      const said = await found(body ?? [], /^data: .*\n\n/);
      return JSON.parse(said.slice('data: '.length)) as Page;
    } finally {
      child.kill('SIGINT');
      await ended;
    }
  }
}

/** The first text like this that comes. */
async function found(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, like: RegExp): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const [first] = like.exec(text) ?? [];
    if (first !== undefined) return first;
  }
  throw new Error(`${text} is not like ${like.source}`);
}

/** A message of the page's stream that has all. */
export type Page = MessageBody & Pick<Model, 'sections'>;

/* As much of what commands give as JSON as is looked at. */

export interface Status {
  readonly counts: object;
  readonly halted: readonly object[];
  readonly updating: readonly { readonly node: string; readonly blockedBy: readonly string[] }[];
}

export interface Verdicts {
  readonly source: string;
  readonly notKnown: readonly string[];
  readonly nodes: readonly Judged[];
}

export interface Judged {
  readonly node: string;
  readonly reason: string;
  readonly message: string;
}

export interface Deeds {
  readonly done: readonly { readonly object: string; readonly changed: boolean }[];
}

export interface Past {
  readonly moments: readonly { readonly object: string; readonly reason: string; readonly message: string }[];
}

export interface Plan {
  readonly at: string;
  readonly starts: readonly { readonly node: string; readonly at: string }[];
  readonly endsAt: string;
  readonly isDurationAssumed: boolean;
  readonly drainsThatCannotEnd: readonly { readonly node: string; readonly pod: string }[];
}
