import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Repository } from '../../../runtime/api/waves/repositories.ts';
import type { Release, Releases } from '../hosts/releases.ts';
import { served } from './served.ts';
import { filesOf, newKey, rootText } from './signed.ts';

/** A variant and an architecture, as hosts say them. */
interface Platform {
  readonly variant: string;
  readonly arch: string;
}

/** A repository that is served until it is closed. */
export interface ServedRepository {
  /** As the operator's settings name it. */
  readonly settings: Repository;
  /** Where hosts of its platform read it. */
  readonly urls: { readonly 'metadata-base-url': string; readonly 'targets-base-url': string };
  /** Signs what is released by now, as the next version. */
  sign(): void;
  close(): Promise<void>;
}

/** Serves the releases of one platform, signed, over HTTPS. */
export async function serveReleases(releases: Releases, platform: Platform): Promise<ServedRepository> {
  const server = await served();
  const pair = newKey();
  const folder = `/metadata/${platform.variant}/${platform.arch}`;
  let version = 0;
  const sign = (): void => {
    version += 1;
    server.files = filesOf({ pair, manifest: manifestOf(releases, platform), version, folder });
  };
  sign();
  return {
    settings: {
      metadata: `${server.url}/metadata/{variant}/{arch}/`,
      targets: `${server.url}/targets/`,
      root: rootText(1, pair),
      caBundle: server.ca,
    },
    urls: { 'metadata-base-url': `${server.url}${folder}/`, 'targets-base-url': `${server.url}/targets/` },
    sign,
    close: () => server.close(),
  };
}

/** As `manifest.json` of a repository lists them. */
function manifestOf(releases: Releases, platform: Platform): string {
  const [newest = ''] = releases.versions;
  const updates = releases.listed.map(({ version, maxVersion = newest, waves = {} }: Release) => ({
    ...platform,
    version,
    max_version: maxVersion,
    waves: Object.fromEntries(Object.entries(waves).map(([seed, at]) => [seed, rfc3339(at)])),
    images: {},
  }));
  return JSON.stringify({ updates, migrations: {} });
}
