import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { faults } from './faults.ts';
import { find, manifests } from './manifests.ts';
import { CA } from './pem.ts';

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ format: 'pem', type: 'pkcs8' })
  .toString();
/** A line of the key's own text, which must turn up nowhere. */
const SECRET = KEY.split('\n')[1]!;

const certificates = (caBundle: unknown) => ({ kind: 'secret', serverSecret: 'tls', caBundle });

/** The bundle that the API server is given, as text. */
function emitted(caBundle: string): string {
  const objects = manifests({ certificates: { kind: 'secret', serverSecret: 'tls', caBundle } });
  const crd = find(objects, 'CustomResourceDefinition', 'bottlerocketshadows.brupop.bottlerocket.aws');
  return Buffer.from(crd.spec.conversion.webhook.clientConfig.caBundle, 'base64').toString();
}

describe('what the API server is given to trust', () => {
  test.each([
    ['one certificate', CA, CA],
    ['two', CA + CA, CA + CA],
    ['with comments and blanks around it', `\n# the company's CA\nsubject=CN = ca\n\n${CA}\n\n`, CA],
    ['with the line ends of Windows', CA.replaceAll('\n', '\r\n'), CA],
    ['indented, as in a text of several lines in code', `\n${CA.replaceAll(/^/gm, '      ')}`, CA],
    ['in one line', CA.replaceAll('\n', ' '), CA],
    ['two, the first of which ends without a new line', CA.trim() + CA, CA + CA],
  ])('%s: certificates and nothing else', (_, bundle, expected) => {
    expect(emitted(bundle)).toBe(expected);
  });
});

describe('what is no bundle of certificates is refused and not repeated', () => {
  const EXPECTED = 'certificates.caBundle: expected certificates in PEM, and nothing else in PEM';
  test.each([
    ['a private key', KEY],
    ['a private key after the certificate', CA + KEY],
    ['a private key before it, as some tools write them', KEY + CA],
    ['a private key that is not ended', CA + KEY.replace(/-----END.*\n/, '')],
    ['a private key within the lines of a certificate', CA.replace('MIIB', `${KEY}MIIB`)],
    ['a private key within a word of a certificate', CA.replace('MIIB', `${SECRET}\nMIIB`)],
    ['a private key as Kubernetes has it in Secrets', Buffer.from(KEY).toString('base64')],
    ['what only looks like a certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'],
    ['no text at all', Buffer.from(KEY)],
    ['comments alone', '# the CA goes here\n'],
  ])('%s', (_, bundle) => {
    const found = faults({ certificates: certificates(bundle) });
    expect(found).toEqual([`${EXPECTED}, got something that is not shown: it may be a private key`]);
  });

  test.each([
    ['as a prop that does not exist', { certificates: { ...certificates(CA), tlsKey: KEY } }],
    ['in base64 there', { certificates: { ...certificates(CA), key: Buffer.from(KEY).toString('base64') } }],
    ['instead of an object', { certificates: KEY }],
    ['as the wrong kind', { certificates: { ...certificates(KEY), kind: KEY } }],
    ['as a name', { certificates: { ...certificates(CA), serverSecret: KEY } }],
    ['in base64 as a name', { certificates: { ...certificates(CA), caSecret: Buffer.from(KEY).toString('base64') } }],
    ['among labels', { labels: { key: KEY } }],
    ['as the key of a label', { labels: { [KEY]: 'x' } }],
  ])('a private key %s', (_, props) => {
    const text = faults(props).join('\n');
    expect(text).not.toBe('');
    expect(text).not.toContain(SECRET.slice(0, 20));
    expect(text).not.toContain(Buffer.from(KEY).toString('base64').slice(0, 20));
  });
});
