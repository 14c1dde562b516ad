import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A place in a bundle, as a stack has it. */
const BUNDLED = /(file:\/\/\S+?\.mjs):(\d+):(\d+)/g;

/**
 * Where an error and its causes came from, by the lines of the sources where a bundle has its map beside it. For what ends a process: Node's
 * own `--enable-source-maps` reads the map as soon as anybody asks any error for its stack, and keeps it, which is up to 34 MB.
 */
export function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const own = error.stack?.replaceAll(
    BUNDLED,
    (place: string, bundle: string, ...at: string[]) => bySource(bundle, [Number(at[0]), Number(at[1])]) ?? place,
  );
  const cause = stackOf(error.cause);
  return cause === undefined ? own : `${own}\ncaused by ${cause}`;
}

/** Best effort: undefined where no map knows the place, of which line and column count from 1. */
function bySource(bundle: string, [line, column]: readonly [line: number, column: number]): string | undefined {
  try {
    const map = JSON.parse(readFileSync(`${fileURLToPath(bundle)}.map`, 'utf8')) as SourceMapPayload;
    const found = new SourceMap(map).findEntry(line - 1, column - 1);
    return 'originalSource' in found ? `${found.originalSource}:${found.originalLine + 1}` : undefined;
  } catch {
    return undefined;
  }
}
