import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A position in a bundle, as a stack trace names it. */
const BUNDLED = /(file:\/\/\S+?\.mjs):(\d+):(\d+)/g;

/**
 * The stacks of an error and its causes, with the lines of the sources where a bundle has its source map beside it. Only used when a process
 * ends: Node's own `--enable-source-maps` would read the map at the first stack that anybody asks for, and keep up to 34 MB of it.
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

/** Undefined where no map knows the position. Line and column count from 1. */
function bySource(bundle: string, [line, column]: readonly [line: number, column: number]): string | undefined {
  try {
    const map = JSON.parse(readFileSync(`${fileURLToPath(bundle)}.map`, 'utf8')) as SourceMapPayload;
    const found = new SourceMap(map).findEntry(line - 1, column - 1);
    return 'originalSource' in found ? `${found.originalSource}:${found.originalLine + 1}` : undefined;
  } catch {
    return undefined;
  }
}
