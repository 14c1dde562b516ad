import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';

/** What is served, and until when (milliseconds since the Unix epoch). */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  /** Who signs the certificates of clients; undefined where none are asked for. */
  readonly clientCa?: string | undefined;
  /** What lies beside it as `ca.crt`. */
  readonly ca?: string;
  readonly expires: number;
}

/** The certificate files cannot be used; the message says why. */
class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * How often the files are read. A mounted secret is replaced by swapping a link above the files, which file notifications do not tell
 * reliably; three small reads cost less than a missed one.
 */
const INTERVAL_MS = 5_000;

interface CertificateOptions {
  /** Folder with tls.crt, tls.key and, for clients' certificates, ca.crt. */
  readonly dir: string;
  /** Whether clients show certificates. */
  readonly clientCertificates: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'certificateExpiry' | 'certificateFailures' | 'certificateUnusable'>;
  readonly signal: AbortSignal;
}

/**
 * Yields the certificate in the folder, and again after each change of its files. Files that cannot be used are logged and skipped, so the
 * certificate before them stays.
 */
export async function* servingCertificates(options: CertificateOptions): AsyncGenerator<ServingCertificate> {
  const { dir, clock, logger, metrics, signal } = options;
  let served: ServingCertificate | undefined;
  let fault: string | undefined;
  while (!signal.aborted) {
    const read = await usable(options, served).catch((error: unknown) => error as Error);
    metrics.certificateUnusable.set(read instanceof Error ? 1 : 0);
    if (read instanceof Error) {
      if (read.message !== fault) metrics.certificateFailures.inc();
      if (read.message !== fault) logger.error('certificate files cannot be used', { dir, error: read });
      fault = read.message;
    } else {
      fault = undefined;
      if (read !== served) {
        served = read;
        metrics.certificateExpiry.set(read.expires / 1000);
        logger.info('certificate loaded', { expires: new Date(read.expires).toISOString() });
        yield read;
      }
    }
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
  }
}

/**
 * The certificate in the folder, or `served` itself where it is the same.
 * @throws CertificateError
 */
async function usable(
  { dir, clientCertificates, clock }: CertificateOptions,
  served: ServingCertificate | undefined,
): Promise<ServingCertificate> {
  const read = await readCertificate(dir, clientCertificates);
  if (isDeepStrictEqual(read, served)) return served as ServingCertificate;
  const fault = served && whyWorse(read, served, clock.now());
  if (fault !== undefined) throw new CertificateError(`tls.crt ${fault}`);
  // What TLS itself refuses, e.g. a broken certificate behind the first or a short key, would end the process when it is used.
  try {
    createSecureContext({ cert: read.cert, key: read.key, ca: read.clientCa });
  } catch (error) {
    throw new CertificateError(error instanceof Error ? error.message : 'refused by TLS', { cause: error });
  }
  return read;
}

/** @throws CertificateError when a file is missing, malformed, or key and certificate do not belong together, as in the middle of a replacement */
async function readCertificate(dir: string, clientCertificates: boolean): Promise<ServingCertificate> {
  try {
    const read = (name: string): Promise<string> => readFile(join(dir, name), 'utf8');
    const [cert, key] = await Promise.all([read('tls.crt'), read('tls.key')]);
    const ca = await read('ca.crt').catch(() => '');
    const clientCa = clientCertificates ? ca : undefined;
    if (clientCa !== undefined && !holdsCertificates(clientCa)) throw new Error('ca.crt holds no certificate');
    const leaf = new X509Certificate(cert);
    if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('tls.key is not the key of tls.crt');
    return { cert, key, clientCa, ca, expires: Date.parse(leaf.validTo) };
  } catch (error) {
    throw new CertificateError(error instanceof Error ? error.message : 'unreadable', { cause: error });
  }
}

/** In the middle of a CA's replacement there can be several. */
function holdsCertificates(pem: string): boolean {
  const found = certificates(pem);
  return found.length > 0 && found.every(({ ca }) => ca);
}

function certificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * Why clients that accept what is served would not accept what was read, e.g. a secret of last year that somebody has restored, or one of
 * another server. What is served stays until it is no longer valid itself.
 */
function whyWorse(read: ServingCertificate, served: ServingCertificate, now: number): string | undefined {
  const [leaf, before] = [new X509Certificate(read.cert), new X509Certificate(served.cert)];
  const isValid = (at: X509Certificate): boolean => Date.parse(at.validFrom) <= now && now < Date.parse(at.validTo);
  if (!isValid(before)) return undefined;
  if (!isValid(leaf)) return `is valid from ${leaf.validFrom} to ${leaf.validTo}`;
  const names = namesOf(before);
  const isFor = (name: string): boolean => namesOf(leaf).includes(name) || leaf.checkHost(name) !== undefined;
  if (names.length > 0 && !names.some(isFor)) return `is for none of ${names.join(', ')}`;
  // A CA that has signed neither, e.g. one of clients alone, tells nothing.
  return isSigned(served.cert, read.ca) && !isSigned(read.cert, read.ca) ? 'is not signed by ca.crt' : undefined;
}

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return Array.from(subjectAltName.matchAll(/DNS:([^",]+)/g), ([, name = '']) => name);
}

/** Whether a certificate of the chain is signed by one of `ca`. */
function isSigned(chain: string, ca = ''): boolean {
  const issuers = certificates(ca);
  return certificates(chain).some((one) =>
    issuers.some((issuer) => one.checkIssued(issuer) && one.verify(issuer.publicKey)),
  );
}
