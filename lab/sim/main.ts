import { fileURLToPath } from 'node:url';
import { FAULT_MEANINGS } from './hosts/faults.ts';
import { helpText, parseOptions } from './options.ts';
import { showRollout } from './show.ts';

/** This file is bundled into `build/`, one below the project. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `npm start`: from the arguments to the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = parseOptions(args, Object.keys(FAULT_MEANINGS));
  if (parsed.kind === 'run') {
    return showRollout({ options: parsed.options, root: ROOT, interrupted: endOfSignals() }, process.stdout);
  }
  if (parsed.kind === 'help') {
    process.stdout.write(helpText(FAULT_MEANINGS));
    return 0;
  }
  process.stderr.write(`${parsed.faults.join('\n')}\nnpm start -- --help lists the options.\n`);
  return 2;
}

/** Aborts at the first Ctrl-C, SIGTERM or loss of the terminal; a second signal ends the process at once. */
function endOfSignals(): AbortSignal {
  const stop = new AbortController();
  // Whoever read the output has gone, as in `npm start | head`.
  process.stdout.on('error', (error) => stop.abort(error));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort(new Error(`ended by ${name}`));
    });
  }
  return stop.signal;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
