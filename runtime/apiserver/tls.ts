import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';

/** What is served, and until when (milliseconds since the Unix epoch). */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  readonly expires: number;
}

/** The certificate files cannot be used; the message says why. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * How often the files are read. A mounted secret is replaced by swapping a link above the files, which file notifications do not tell
 * reliably; three small reads cost less than a missed one.
 */
const INTERVAL_MS = 5_000;

export interface CertificateOptions {
  /** Folder with tls.crt and tls.key. */
  readonly dir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'certificateExpiry' | 'certificateFailures'>;
  readonly signal: AbortSignal;
}

/**
 * The certificate in the folder, and again each time that its files change. Files that cannot be used are told and passed over, so that
 * the certificate before stays.
 */
export async function* servingCertificates(options: CertificateOptions): AsyncGenerator<ServingCertificate> {
  const { dir, clock, logger, metrics, signal } = options;
  let served: ServingCertificate | undefined;
  let fault: string | undefined;
  while (!signal.aborted) {
    const read = await readCertificate(dir).catch((error: unknown) => error as Error);
    if (read instanceof Error) {
      if (read.message !== fault) metrics.certificateFailures.inc();
      if (read.message !== fault) logger.error('certificate files cannot be used', { dir, error: read });
      fault = read.message;
    } else {
      fault = undefined;
      if (read.cert !== served?.cert || read.key !== served.key) {
        served = read;
        metrics.certificateExpiry.set(read.expires / 1000);
        logger.info('certificate loaded', { expires: new Date(read.expires).toISOString() });
        yield read;
      }
    }
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
  }
}

/** @throws CertificateError when a file is missing, malformed, or the two do not belong together, as in the middle of a replacement */
export async function readCertificate(dir: string): Promise<ServingCertificate> {
  try {
    const [cert, key] = await Promise.all([
      readFile(join(dir, 'tls.crt'), 'utf8'),
      readFile(join(dir, 'tls.key'), 'utf8'),
    ]);
    const leaf = new X509Certificate(cert);
    if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('tls.key is not the key of tls.crt');
    return { cert, key, expires: Date.parse(leaf.validTo) };
  } catch (error) {
    throw new CertificateError(error instanceof Error ? error.message : 'unreadable', { cause: error });
  }
}
