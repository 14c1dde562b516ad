import { X509Certificate } from 'node:crypto';
import * as z from 'zod';

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** Stricter than the props, because here the text is used as it is. */
const NOTHING_BUT_CERTIFICATES = '^\\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s]+-----END CERTIFICATE-----\\s*)+$';

/**
 * The certificates of a bundle, encoded anew: what else stands in the text, blanks and comments, is left out. Undefined where there is none,
 * where one cannot be read, and where anything else is in PEM: whoever hands over a private key has taken the wrong file.
 */
function certificatesIn(text: string): string | undefined {
  const bodies = Array.from(text.matchAll(BLOCK), ([, body = '']) => body);
  if (bodies.length === 0 || text.replace(BLOCK, '').includes('-----BEGIN')) return undefined;
  try {
    return bodies.map((body) => new X509Certificate(inLines(body)).toString()).join('');
  } catch {
    return undefined;
  }
}

/** Writes PEM as OpenSSL reads it: it refuses lines that are indented, or joined to one. */
function inLines(body: string): string {
  const lines = body.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** Yields certificates only, since the result becomes part of a manifest. A refused text is never shown: it may hold a private key. */
export const caBundle = z
  .custom<string>((value) => typeof value === 'string' && certificatesIn(value) !== undefined, {
    message: 'expected certificates in PEM, and nothing else in PEM',
    params: { secret: true },
  })
  // `not` twice: Helm's schema check then says what is wrong without a copy of the text.
  .meta({ type: 'string', not: { not: { pattern: NOTHING_BUT_CERTIFICATES } } })
  .transform((text) => certificatesIn(text) ?? '');
