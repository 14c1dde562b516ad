/** As much of a krew manifest as its rules are about. Any part may be missing, or of another type. */
export interface KrewManifest {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: unknown };
  readonly spec?: {
    readonly version?: unknown;
    readonly shortDescription?: unknown;
    readonly description?: unknown;
    readonly caveats?: unknown;
    readonly homepage?: unknown;
    readonly platforms?: readonly KrewPlatform[];
  };
}

interface KrewPlatform {
  readonly selector?: {
    readonly matchLabels?: Readonly<Record<string, unknown>>;
    readonly matchExpressions?: unknown;
  };
  readonly uri?: unknown;
  readonly sha256?: unknown;
  readonly bin?: unknown;
  readonly files?: unknown;
}

type Rule = readonly [isBroken: boolean, fault: string];

/** Machines that krew itself runs on. */
const MACHINES = [
  ['windows', 'amd64'],
  ['windows', 'arm64'],
  ['linux', 'amd64'],
  ['linux', 'arm64'],
  ['linux', 'arm'],
  ['darwin', 'amd64'],
  ['darwin', 'arm64'],
] as const;

/** Names of devices, which no file on Windows may have. */
const DEVICES = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

const VERSION = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/**
 * What krew, or the check of its index, would object to in a manifest.
 * @param file its name without `.yaml`
 * @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 * @see https://krew.sigs.k8s.io/docs/developer-guide/develop/naming-guide/
 */
export function krewFaults(file: string, { apiVersion, kind, metadata, spec = {} }: KrewManifest): readonly string[] {
  const { platforms = [] } = spec;
  const rules: readonly Rule[] = [
    [apiVersion !== 'krew.googlecontainertools.github.com/v1alpha2', 'apiVersion'],
    [kind !== 'Plugin', 'kind'],
    [metadata?.name !== file || !/^[a-z][a-z0-9-]*$/.test(file) || DEVICES.test(file), 'metadata.name'],
    [!VERSION.test(String(spec.version)), 'spec.version'],
    [!isText(spec.shortDescription, 70) || /[\r\n]/.test(String(spec.shortDescription)), 'spec.shortDescription'],
    [!isText(spec.description, 80), 'spec.description'],
    [spec.caveats !== undefined && !isText(spec.caveats, 80), 'spec.caveats'],
    [!String(spec.homepage).startsWith('https://'), 'spec.homepage'],
    [platforms.length === 0, 'spec.platforms'],
    ...platforms.flatMap((platform, index) =>
      platformRules(platform).map(([isBroken, fault]): Rule => [isBroken, `spec.platforms[${index}].${fault}`]),
    ),
    ...MACHINES.map(([os, arch]): Rule => {
      const fitting = platforms.filter((platform) => fits(platform, os, arch));
      return [fitting.length > 1, `several platforms select ${os}/${arch}`];
    }),
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, fault]) => fault);
}

function platformRules(platform: KrewPlatform): readonly Rule[] {
  const { selector, uri, sha256, bin, files } = platform;
  const labels = selector?.matchLabels ?? {};
  const keys = Object.keys(labels);
  const isSelector = keys.length > 0 && keys.every((key) => key === 'os' || key === 'arch');
  return [
    [!isSelector || selector?.matchExpressions !== undefined, 'selector'],
    [!MACHINES.some(([os, arch]) => fits(platform, os, arch)), 'selector selects no machine'],
    [!/^https:\/\/.*\.(zip|tar\.gz)$/.test(String(uri)), 'uri'],
    [!/^[a-f0-9]{64}$/.test(String(sha256)), 'sha256'],
    [typeof bin !== 'string' || bin === '' || bin.split('/').includes('..'), 'bin'],
    // Where nothing is stated all files are taken.
    [files !== undefined, 'files'],
  ];
}

function fits({ selector }: KrewPlatform, os: string, arch: string): boolean {
  const { os: system = os, arch: processor = arch } = selector?.matchLabels ?? {};
  return system === os && processor === arch;
}

/** Lines may be longer where they are one word. */
function isText(text: unknown, columns: number): boolean {
  if (typeof text !== 'string' || text.trim() === '') return false;
  return text.split('\n').every((line) => line.length <= columns || !line.trim().includes(' '));
}
