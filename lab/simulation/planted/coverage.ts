import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';

type Range = Profiler.CoverageRange;

/** Which parts of the code a run passes, as the engine counts them. Begun before the code is loaded, so that each block is counted. */
export class Coverage {
  readonly #session: Session;
  /** Of each module, the functions that were ever counted: one that has not run since the last look is not told of again. */
  readonly #functions = new Map<string, Map<number, Range>>();
  /** Of each module, what has run since the look before the last, and how often. */
  #blocks = new Map<string, readonly Range[]>();

  private constructor(session: Session) {
    this.#session = session;
  }

  static async begin(): Promise<Coverage> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return new Coverage(session);
  }

  /** Takes what has run since it was last called. */
  async look(): Promise<void> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#blocks = new Map(result.map(({ url, functions }) => [url, functions.flatMap(({ ranges }) => ranges)]));
    for (const { url, functions } of result) {
      const known = getOrInsert(this.#functions, url, () => new Map<number, Range>());
      for (const { ranges } of functions) known.set(ranges[0]!.startOffset, { ...ranges[0]!, count: 0 });
    }
  }

  /** Whether anything from the one offset to the other has run between the last two looks. What a module does when it is loaded counts as run. */
  hasRun(path: string, from: number, to: number): boolean {
    const url = pathToFileURL(path).href;
    // Of two that are alike the later decides: what was counted now.
    const ranges = [...(this.#functions.get(url)?.values() ?? []), ...(this.#blocks.get(url) ?? [])];
    // What was never loaded has no count at all.
    if (ranges.length === 0) return false;
    const counts = Array.from({ length: to - from }, (_, index) => countAt(ranges, from + index));
    return counts.some((count) => count > 0);
  }
}

function countAt(ranges: readonly Range[], offset: number): number {
  let innermost: Range | undefined;
  for (const range of ranges) {
    const isAround = range.startOffset <= offset && offset < range.endOffset;
    if (isAround && (!innermost || sizeOf(range) <= sizeOf(innermost))) innermost = range;
  }
  return innermost?.startOffset === 0 ? 1 : (innermost?.count ?? 1);
}

const sizeOf = ({ startOffset, endOffset }: Range): number => endOffset - startOffset;
