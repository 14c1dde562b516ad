/** What the controller and the process that reads a repository tell each other, as JSON on its standard input and output. */

/** A repository of one variant and architecture. */
export interface Request {
  /** Address of its metadata, complete. */
  readonly metadata: string;
  readonly targets: string;
  /** The root that is trusted: its text, or the SHA-512 of what is at an address. */
  readonly root: string | { readonly url: string; readonly sha512: string };
  readonly variant: string;
  /** As hosts say it, e.g. `x86_64`. */
  readonly arch: string;
  /** Versions of metadata that were read before, below which nothing is taken. */
  readonly seen: Seen;
  /** A folder that can be written. */
  readonly folder: string;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly ca?: string | undefined;
}

export interface Seen {
  readonly timestamp: number;
  readonly snapshot: number;
  readonly targets: number;
}

export const NOTHING_SEEN: Seen = { timestamp: 0, snapshot: 0, targets: 0 };

/** A version that the repository lists. */
export interface Listed {
  readonly version: string;
  readonly maxVersion: string | undefined;
  /** Milliseconds since the Unix epoch, by the last seed of each wave. */
  readonly waves: readonly { readonly seed: number; readonly at: number }[];
}

export type Reading =
  | { readonly kind: 'read'; readonly versions: readonly Listed[]; readonly root: string; readonly seen: Seen }
  /** Nothing of it is to be believed. */
  | { readonly kind: 'failed'; readonly why: string };

/** From the beginning of a reading to its end, milliseconds. */
export const READING_MS = 30_000;
