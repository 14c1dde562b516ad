import type { ChannelObject } from './model.ts';
import { type Release, releaseOf } from './release.ts';

/** A channel after parsing. */
export interface Channel {
  readonly object: ChannelObject;
  /** A name that no policy can have. */
  readonly title: string;
  /** Most nodes that may be updating at once; 0 = no update starts. */
  readonly concurrency: number;
  /** The URL without blanks around it, because the host's tool would fail on them after the drain; empty where it names no repository. */
  readonly url: string;
  /** `owner/name` on GitHub; undefined where the URL names none. */
  readonly repository: string | undefined;
  /** Undefined where `version` is no version. */
  readonly wish: Wish | undefined;
  /** Why the channel is invalid. Each text names a field, what was expected and what came. */
  readonly faults: readonly string[];
}

/** What nodes should run: the newest release, or a named one. */
export type Wish = { readonly kind: 'latest' } | Release;

/** Null is absence. Definitions of older clusters let values of other types through. */
export function readChannel(object: ChannelObject): Channel {
  const { concurrency, url, version } = object.spec ?? {};
  const repository = typeof url === 'string' ? repositoryOf(url) : undefined;
  const wish = version == null ? LATEST : typeof version === 'string' ? wishOf(version) : undefined;
  const isCount = typeof concurrency === 'number' && Number.isInteger(concurrency) && concurrency >= 0;
  const expectations: readonly (readonly [isMet: boolean, path: string, expected: string, got: unknown])[] = [
    [isCount, 'spec.concurrency', 'a whole number, 0 or more', concurrency],
    [repository !== undefined, 'spec.url', 'github-releases://OWNER/REPOSITORY', url],
    [wish !== undefined, 'spec.version', 'a release like v0.11.0, or "latest"', version],
  ];
  return {
    object,
    title: `${object.metadata.namespace ?? ''}/${object.metadata.name}`,
    concurrency: isCount ? concurrency : 0,
    url: repository === undefined ? '' : `${SCHEME}${repository}`,
    repository,
    wish,
    faults: expectations.flatMap(([isMet, path, expected, got]) =>
      isMet ? [] : [`${path}: expected ${expected}, got ${shown(got)}`],
    ),
  };
}

const SCHEME = 'github-releases://';
/** GitHub allows no more in either name. */
const REPOSITORY = /^([A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100})\/?$/;

function repositoryOf(text: string): string | undefined {
  const url = text.trim();
  const repository = url.startsWith(SCHEME) ? REPOSITORY.exec(url.slice(SCHEME.length))?.[1] : undefined;
  return repository === undefined || /\/\.{1,2}$/.test(repository) ? undefined : repository;
}

const LATEST: Wish = { kind: 'latest' };

function wishOf(text: string): Wish | undefined {
  const version = text.trim();
  return version === '' || version.toLowerCase() === 'latest' ? LATEST : releaseOf(version);
}

/** A value in at most one short line, for messages. */
function shown(value: unknown): string {
  return value == null ? 'nothing' : JSON.stringify(value).slice(0, 100);
}
