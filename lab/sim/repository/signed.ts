import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Key, MetaFile, Metadata, Root, Signature, Snapshot, TargetFile, Targets, Timestamp } from '@tufjs/models';

/** A signed repository, as Bottlerocket's are made. */

const SPEC = '1.0.0';
const ROLES = ['root', 'timestamp', 'snapshot', 'targets'] as const;

interface Pair {
  readonly key: InstanceType<typeof Key>;
  readonly id: string;
  readonly secret: KeyObject;
}

export function newKey(): Pair {
  const { publicKey, privateKey: secret } = generateKeyPairSync('ed25519');
  const pub = publicKey.export({ format: 'jwk' }).x ?? '';
  const id = createHash('sha256').update(pub).digest('hex');
  const keyVal = { public: Buffer.from(pub, 'base64url').toString('hex') };
  return { id, secret, key: new Key({ keyID: id, keyType: 'ed25519', scheme: 'ed25519', keyVal }) };
}

type Signed = ConstructorParameters<typeof Metadata>[0];

function signedBy(signed: Signed, ...pairs: readonly Pair[]): string {
  const metadata = new Metadata(signed);
  for (const { id, secret } of pairs)
    metadata.sign((data) => new Signature({ keyID: id, sig: sign(null, data, secret).toString('hex') }), true);
  return JSON.stringify(metadata.toJSON());
}

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().replace(/\.\d+/, '');

function rootOf(version: number, pair: Pair): Root {
  const root = new Root({ version, specVersion: SPEC, expires: inDays(30), consistentSnapshot: true });
  for (const role of ROLES) root.addKey(pair.key, role);
  return root;
}

export const rootText = (version: number, pair: Pair, ...signers: readonly Pair[]): string =>
  signedBy(rootOf(version, pair), pair, ...signers);

interface Contents {
  readonly pair: Pair;
  readonly manifest: string;
  /** Of timestamp, snapshot and targets. @default 1 */
  readonly version?: number;
  /** Until the timestamp expires. @default 7 */
  readonly days?: number;
  /** What the targets say of the manifest. @default the truth */
  readonly sha256?: string;
  /** Path of the metadata. @default /metadata */
  readonly folder?: string;
}

/** Its files by their paths. `/metadata/1.root.json` is not among them: only the root that is current need be there. */
export function filesOf({
  pair,
  manifest,
  version = 1,
  days = 7,
  sha256 = hashOf(manifest),
  folder = '/metadata',
}: Contents): Map<string, string> {
  const common = { version, specVersion: SPEC, expires: inDays(30) };
  const target = new TargetFile({ path: 'manifest.json', length: manifest.length, hashes: { sha256 } });
  const targets = new Targets({ ...common, targets: { 'manifest.json': target } });
  const snapshot = new Snapshot({ ...common, meta: { 'targets.json': new MetaFile({ version }) } });
  const snapshotMeta = new MetaFile({ version });
  const timestamp = new Timestamp({ ...common, expires: inDays(days), snapshotMeta });
  return new Map([
    [`${folder}/timestamp.json`, signedBy(timestamp, pair)],
    [`${folder}/${version}.snapshot.json`, signedBy(snapshot, pair)],
    [`${folder}/${version}.targets.json`, signedBy(targets, pair)],
    [`/targets/${sha256}.manifest.json`, manifest],
  ]);
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
