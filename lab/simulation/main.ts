import { Campaign } from './campaign.ts';
import { CATALOGUE } from './faults/catalogue.ts';
import { HELP, parseOptions } from './options.ts';
import { hunt } from './planted/hunt.ts';

const print = (text: string): void => void process.stdout.write(text);
const tell = (text: string): void => void process.stderr.write(text);

function help(): string {
  const width = Math.max(...CATALOGUE.map(({ name }) => name.length));
  const rows = CATALOGUE.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`);
  return `${HELP}\nFaults:\n${rows.join('\n')}\n`;
}

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    print(help());
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`${signal}: ended before its end`)));
  const terms = { print, tell, signal: stop.signal };
  return options.planted ? hunt(options, terms) : new Campaign(options, terms).play();
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  tell(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
