#!/usr/bin/env node
import '../cli/node20.ts';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { createLogUpdate } from 'log-update';
import { systemClock } from '../lib/clock.ts';
import { listenToKeys } from '../cli/output/keys.ts';
import { terminalOf } from '../cli/output/terminal.ts';
import { COMPLETE, runProgram } from '../cli/program.ts';

const { stdin, stdout, stderr, env } = process;
const ending = new AbortController();
const live = createLogUpdate(stdout);
// The text that a watch has shown last stays on the terminal.
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    ending.abort(new Error(name));
    live.done();
    process.exit(name === 'SIGINT' ? 130 : 143);
  });
}
// The reader has closed the pipe, as in `kubectl brupop why | head`.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

// The single executable file has two names, and argv0 says which one was called. For a script, argv0 is Node's own name.
const isCompletion = basename(process.argv0).startsWith('kubectl_complete-brupop');

process.exitCode = await runProgram({
  args: [...(isCompletion ? [COMPLETE] : []), ...process.argv.slice(2)],
  env,
  home: homedir(),
  clock: systemClock,
  signal: ending.signal,
  terminal: () => terminalOf(stdout, env),
  out: (text) => stdout.write(text),
  err: (text) => stderr.write(text),
  // Carriage return, and erase the line.
  progress: (text) => stderr.isTTY && stderr.write(`\r\u001B[K${text}`),
  redraw,
});

function redraw(text: string): void {
  if (!stdout.isTTY) {
    stdout.write(text);
    return;
  }
  listen();
  live(text.trimEnd());
}

/** While the screen is drawn again and again, `q` ends it. Node gives the terminal back as it was. */
function listen(): void {
  if (!stdin.isTTY || stdin.listenerCount('data') > 0) return;
  listenToKeys(stdin, {
    quit: () => {
      live.done();
      process.exit(0);
    },
    interrupt: () => process.kill(process.pid, 'SIGINT'),
    suspend: (onContinue) => {
      process.once('SIGCONT', onContinue);
      process.kill(process.pid, 'SIGTSTP');
    },
  });
}
