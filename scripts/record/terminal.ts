import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a terminal of a size was sent, and when. */
export interface Recording {
  readonly columns: number;
  readonly rows: number;
  /** Seconds since the beginning, and what was written then. */
  readonly events: readonly (readonly [seconds: number, text: string])[];
}

export interface RecordOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Presses Ctrl-C, where the command does not end by itself. */
  readonly stop?: AbortSignal;
}

const PROMPT = '\u001B[1;32m$\u001B[0m ';
const KEY_SECONDS = 0.06;
/** Between the last key and the command's start. */
const PAUSE_SECONDS = 0.7;

/** Runs a command on a terminal of its own, as if somebody had typed it there. @throws Error when it fails before `stop` */
export async function record(command: string, { columns, rows, cwd, env, stop }: RecordOptions): Promise<Recording> {
  const events: [number, string][] = typed(command);
  const begun = performance.now() - ((events.at(-1)?.[0] ?? 0) + PAUSE_SECONDS) * 1000;
  const shell = `stty cols ${columns} rows ${rows}; exec ${command}`;
  // Its input stays open: an end of it would be a key pressed.
  const script = spawn('script', ['--quiet', '--return', '--flush', '--command', shell, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  script.stdout.setEncoding('utf8').on('data', (text: string) => {
    events.push([(performance.now() - begun) / 1000, text]);
  });
  const end = (): void => void script.stdin.write('\u0003');
  stop?.addEventListener('abort', end);
  const [code] = (await once(script, 'close')) as [number | null];
  stop?.removeEventListener('abort', end);
  if (code !== 0 && !stop?.aborted) throw new Error(`${command} ended with ${code}`);
  return { columns, rows, events };
}

function typed(command: string): [number, string][] {
  const keys = Array.from(command, (key, index): [number, string] => [PAUSE_SECONDS + index * KEY_SECONDS, key]);
  const [last = PAUSE_SECONDS] = keys.at(-1) ?? [];
  return [[0, PROMPT], ...keys, [last + PAUSE_SECONDS / 2, '\r\n']];
}
