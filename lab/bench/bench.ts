/** One number that a benchmark found. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** e.g. `ms`, `MiB`. */
  readonly unit: string;
  /** The value should not be above it. */
  readonly atMost?: number;
}

export interface BenchContext {
  /** Tells a person who waits what is going on. */
  progress(text: string): void;
  /** Aborts when the person gives up. */
  readonly signal: AbortSignal;
  /** Folder of the project, with `build/` in it. */
  readonly root: string;
}

export interface Bench {
  /** What `--filter` looks at. */
  readonly name: string;
  /** What is measured and how, in one line. */
  readonly what: string;
  /** Why it cannot run with this environment; undefined where it can. @default it always can */
  skipped?(env: Readonly<Record<string, string | undefined>>): string | undefined;
  run(context: BenchContext): Promise<readonly Figure[]>;
}
