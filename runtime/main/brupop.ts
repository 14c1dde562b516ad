import { fileURLToPath } from 'node:url';
import { entry } from '../image/entry.ts';

const asked = entry(process.argv.slice(2), process.env, fileURLToPath(new URL('.', import.meta.url)).slice(0, -1));
if (asked.kind === 'run') {
  // The program replaces this process. So it has Node's flags, its variables, every signal and the memory to itself.
  if (!process.execve) throw new Error(`expected Node 24, which the image has, got ${process.version}`);
  process.execve(process.execPath, asked.command, asked.env);
} else {
  process[asked.kind === 'out' ? 'stdout' : 'stderr'].write(asked.text);
  process.exitCode = asked.exitCode;
}
