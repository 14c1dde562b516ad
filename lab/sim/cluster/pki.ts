import 'reflect-metadata'; // x509's dependency injection asks for it before it is loaded
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { type Clock, DAY_MS, HOUR_MS } from '../../../runtime/lib/clock.ts';

export interface KeyPair {
  readonly certPem: string;
  /** PKCS8. */
  readonly keyPem: string;
}

export interface Subject {
  readonly commonName: string;
  /** The group of a user who shows this certificate. */
  readonly organization?: string;
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  /** Kind of its key. @default P-256 */
  readonly key?: keyof typeof KEYS;
}

/** Signs certificates that everybody who trusts `certPem` accepts. */
export interface CertificateAuthority extends KeyPair {
  /** A certificate for server and client use, good for 90 days. */
  issue(subject: Subject): Promise<KeyPair>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const KEYS = {
  'P-256': ALGORITHM,
  'RSA-2048': {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
    hash: 'SHA-256',
  },
} as const;

/** For how long an issued certificate is good. */
export const ISSUED_FOR_MS = 90 * DAY_MS;

/** A certificate authority of its own, good for ten years. @param clock what the peers of a connection go by: the system's, for real sockets */
export async function createCa(
  clock: Pick<Clock, 'now'>,
  commonName = 'embedded-cluster-ca',
): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(clock, 3650),
    name: `CN=${commonName}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return authority(clock, { certPem: certificate.toString('pem'), keyPem: await privateKeyPem(keys.privateKey) });
}

/** The authority whose certificate and key these are. @param clock see `createCa` */
export async function authority(clock: Pick<Clock, 'now'>, pair: KeyPair): Promise<CertificateAuthority> {
  const issuer = new x509.X509Certificate(pair.certPem).subject;
  const der = x509.PemConverter.decodeFirst(pair.keyPem);
  const key = await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
  return { ...pair, issue: (subject) => issueLeaf(subject, { clock, issuer, key }) };
}

async function issueLeaf(
  { commonName, organization, dnsNames = [], ips = [], key = 'P-256' }: Subject,
  ca: { clock: Pick<Clock, 'now'>; issuer: string; key: webcrypto.CryptoKey },
): Promise<KeyPair> {
  const keys = await generateKeys(key);
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ips.map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(ca.clock, ISSUED_FOR_MS / DAY_MS),
    subject: organization === undefined ? `CN=${commonName}` : `O=${organization},CN=${commonName}`,
    issuer: ca.issuer,
    publicKey: keys.publicKey,
    signingKey: ca.key,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension(names),
    ],
  });
  return { certPem: certificate.toString('pem'), keyPem: await privateKeyPem(keys.privateKey) };
}

function generateKeys(kind: keyof typeof KEYS = 'P-256'): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEYS[kind], true, ['sign', 'verify']);
}

/** Begins an hour ago, so that clocks which differ a little still agree. */
function validity(clock: Pick<Clock, 'now'>, days: number): { notBefore: Date; notAfter: Date; serialNumber: string } {
  const start = clock.now();
  // The first bit of a serial number must be 0, or it would be negative.
  const serialNumber = `01${randomBytes(15).toString('hex')}`;
  return { notBefore: new Date(start - HOUR_MS), notAfter: new Date(start + days * DAY_MS), serialNumber };
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
