import type { ChannelObject } from './model.ts';
import { type Release, releaseOf } from './release.ts';

/** A channel as it is meant. */
export interface Channel {
  readonly object: ChannelObject;
  /** Unlike that of any policy. */
  readonly title: string;
  /** Nodes that may be updating at once; 0 = none starts. */
  readonly concurrency: number;
  /** As it was written: what asks for a release, and what installs it, go by the same URL. */
  readonly url: string;
  /** `owner/name` on GitHub; undefined where the URL names none. */
  readonly repository: string | undefined;
  /** Undefined where the version is none. */
  readonly wish: Wish | undefined;
  /** Why it cannot be obeyed: each names a field, what was expected and what came. */
  readonly faults: readonly string[];
}

/** What nodes are to run: the newest release, whichever that is, or this one. */
export type Wish = { readonly kind: 'latest' } | Release;

/** Null is absence. */
export function readChannel(object: ChannelObject): Channel {
  const { concurrency, url, version } = object.spec ?? {};
  const repository = repositoryOf(url ?? '');
  const wish = wishOf(version ?? '');
  const isCount = typeof concurrency === 'number' && concurrency >= 0;
  const expectations: readonly (readonly [isMet: boolean, path: string, expected: string, got: unknown])[] = [
    [isCount, 'spec.concurrency', 'a whole number, 0 or more', concurrency],
    [repository !== undefined, 'spec.url', 'github-releases://OWNER/REPOSITORY', url],
    [wish !== undefined, 'spec.version', 'a release like v0.11.0, or "latest"', version],
  ];
  return {
    object,
    title: `${object.metadata.namespace ?? ''}/${object.metadata.name}`,
    concurrency: isCount ? concurrency : 0,
    url: url ?? '',
    repository,
    wish,
    faults: expectations.flatMap(([isMet, path, expected, got]) =>
      isMet ? [] : [`${path}: expected ${expected}, got ${shown(got)}`],
    ),
  };
}

/** GitHub allows no more in either name. */
const SOURCE = /^github-releases:\/\/([A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100})\/?$/;

function repositoryOf(url: string): string | undefined {
  const repository = SOURCE.exec(url.trim())?.[1];
  return repository === undefined || /\/\.{1,2}$/.test(repository) ? undefined : repository;
}

function wishOf(text: string): Wish | undefined {
  const version = text.trim();
  return version === '' || version.toLowerCase() === 'latest' ? { kind: 'latest' } : releaseOf(version);
}

/** What came, in at most one short line. */
function shown(value: unknown): string {
  return value == null ? 'nothing' : JSON.stringify(value).slice(0, 100);
}
