import * as z from 'zod';
import { MAX_REPOSITORIES } from './waves.ts';

/** Repositories of releases, as the operator's settings name them: a node's word is never followed. */

const PLACES = /\{(variant|arch)\}/g;

/** A URL without user, query and fragment, in which `{variant}` and `{arch}` may stand. */
const address = z.string().refine((text) => {
  const url = URL.parse(text.replaceAll(PLACES, 'x'));
  return url?.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === '';
}, 'expected an https:// URL without user and query; {variant} and {arch} may stand in it');

const SHA_512 = /^[0-9a-f]{128}$/;

export const repository = z
  .strictObject({
    // In the order of their names, as Helm writes JSON.
    caBundle: z.string().max(262_144).optional(),
    metadata: address,
    root: z.string().min(1).max(65_536).optional(),
    rootSha512: z.string().regex(SHA_512, 'expected a SHA-512: 128 digits of 0 to 9, a to f').optional(),
    rootUrl: address.optional(),
    targets: address,
  })
  .refine(
    ({ root, rootSha512 }) => (root === undefined) !== (rootSha512 === undefined),
    'expected root or rootSha512, and not both',
  );

export const repositories = z.array(repository).max(MAX_REPOSITORIES).readonly();
/** What the variable says without one. */
export const PUBLIC = 'public';

/** A repository, of as many families as it has. */
export type Repository = Readonly<z.infer<typeof repository>>;

/** Where Bottlerocket publishes the root that is current, of which its guides state the SHA-512. */
const ROOT_URL = 'https://cache.bottlerocket.aws/root.json';

export const PUBLIC_REPOSITORY: Repository = {
  metadata: 'https://updates.bottlerocket.aws/2020-07-07/{variant}/{arch}/',
  targets: 'https://updates.bottlerocket.aws/targets/',
  rootSha512:
    '2ff1fbf99b20dd7ff5d2c84243a8e3b51701183b1f524b7d470a6b7a9b0172fbb36a0949b7e586ab7ccb6e348eb77125d6ed9fd1a638f4381e4f3f084ff38596',
};

/** What a variable says: undefined for what is no list of repositories. */
export function parseRepositories(text: string): readonly Repository[] | undefined {
  if (text === PUBLIC) return [PUBLIC_REPOSITORY];
  try {
    return repositories.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A variant and an architecture, as hosts say them. */
export interface Platform {
  readonly variant: string;
  readonly arch: string;
}

const WORD = /^[a-z0-9._-]+$/;
/** Kubernetes' words for what hosts call otherwise. */
const ARCHITECTURES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** @param family e.g. `aws-k8s-1.33/amd64`. @returns undefined where it could lead elsewhere than to a folder of its own */
export function platformOf(family: string): Platform | undefined {
  const [variant = '', named = '', ...more] = family.split('/');
  const arch = ARCHITECTURES[named] ?? named;
  const isPlain = more.length === 0 && [variant, arch].every((word) => WORD.test(word) && !/^\.+$/.test(word));
  return isPlain ? { variant, arch } : undefined;
}

/** A repository's address for one platform. */
export const filledIn = (template: string, platform: Platform): string =>
  template.replaceAll(PLACES, (_, name: keyof Platform) => platform[name]);

/** The root that is trusted first: its text, or the SHA-512 of what is at an address. */
export const rootOf = ({ root, rootSha512: sha512 = '', rootUrl: url = ROOT_URL }: Repository) =>
  root ?? { url, sha512 };

/** Whether two addresses are one: hosts keep theirs with or without the last slash. */
export const isSameAddress = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');
