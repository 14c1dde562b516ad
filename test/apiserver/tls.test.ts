import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Metrics } from '../../runtime/apiserver/metrics.ts';
import { type ServingCertificate, servingCertificates } from '../../runtime/apiserver/tls.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { authority, createCa, type KeyPair } from '../../lab/sim/cluster/pki.ts';
import { until } from './until.ts';
import { folder } from '../folder.ts';

const ca = await createCa(systemClock);
const issue = (): Promise<KeyPair> => ca.issue({ commonName: 'apiserver', dnsNames: ['a.svc'] });

let clock: VirtualClock;
let metrics: Metrics;
let stop: AbortController;

beforeEach(async () => {
  clock = new VirtualClock(systemClock.now());
  metrics = new Metrics();
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
});

/** As a mounted secret: the files are links through one link, which is swapped as a whole. */
async function mount(version: string, { certPem, keyPem }: KeyPair, caPem = ca.certPem): Promise<void> {
  await mkdir(join(folder, version));
  await writeFile(join(folder, version, 'ca.crt'), caPem);
  await writeFile(join(folder, version, 'tls.crt'), certPem);
  await writeFile(join(folder, version, 'tls.key'), keyPem);
  await symlink(version, join(folder, 'new'));
  await rename(join(folder, 'new'), join(folder, '..data'));
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) {
    await symlink(join('..data', name), join(folder, name)).catch(() => undefined);
  }
}

const follow = (clientCertificates = false): AsyncGenerator<ServingCertificate> =>
  servingCertificates({ dir: folder, clientCertificates, clock, logger: silentLogger, metrics, signal: stop.signal });

/** The next certificate; file reads take real time, so the clock is moved until it has come. */
async function nextOf(certificates: AsyncGenerator<ServingCertificate>): Promise<ServingCertificate> {
  let found: ServingCertificate | undefined;
  void certificates.next().then(({ value }) => (found = value as ServingCertificate));
  await until(clock, () => found !== undefined, 1_000, 'a certificate that is served');
  return found as ServingCertificate;
}

const next = async (certificates: AsyncGenerator<ServingCertificate>): Promise<string> =>
  (await nextOf(certificates)).cert;

const failures = async (): Promise<number | undefined> => (await metrics.certificateFailures.get()).values[0]?.value;

const unusable = async (): Promise<number | undefined> => (await metrics.certificateUnusable.get()).values[0]?.value;

test('a certificate is served anew when its secret is swapped', async () => {
  const [first, second] = [await issue(), await issue()];
  await mount('1', first);
  const certificates = follow();
  expect(await next(certificates)).toBe(first.certPem);
  await mount('2', second);
  expect(await next(certificates)).toBe(second.certPem);
  const { values } = await metrics.certificateExpiry.get();
  expect(values[0]?.value).toBeGreaterThan(systemClock.now() / 1000 + 80 * 24 * 3600);
});

test('files that cannot be used are passed over, counted once, and the next good ones are served', async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()];
  await mount('1', first);
  const certificates = follow();
  expect(await next(certificates)).toBe(first.certPem);
  await mount('2', { certPem: second.certPem, keyPem: third.keyPem });
  const waiting = next(certificates);
  await until(clock, async () => (await failures()) === 1, 1_000);
  await mount('3', third);
  expect(await waiting).toBe(third.certPem);
  expect(await failures()).toBe(1);
});

test('for as long as the files cannot be used, a metric says so, however old their fault', async () => {
  const [first, second] = [await issue(), await issue()];
  await mount('1', first);
  const certificates = follow();
  await next(certificates);
  expect(await unusable()).toBe(0);
  await mount('2', { certPem: second.certPem, keyPem: first.keyPem });
  const waiting = next(certificates);
  await until(clock, async () => (await unusable()) === 1, 1_000);
  await clock.advance(7_200_000);
  expect(await unusable()).toBe(1);
  await mount('3', first);
  await until(clock, async () => (await unusable()) === 0, 1_000);
  await mount('4', second);
  expect(await waiting).toBe(second.certPem);
});

test('a chain that TLS would refuse is passed over, though its first certificate and the key are good', async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()];
  await mount('1', first);
  const certificates = follow();
  expect(await next(certificates)).toBe(first.certPem);
  const broken = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';
  await mount('2', { ...second, certPem: `${second.certPem}\n${broken}` });
  const waiting = next(certificates);
  await until(clock, async () => (await failures()) === 1, 1_000);
  await mount('3', third);
  expect(await waiting).toBe(third.certPem);
});

const DAY_MS = 24 * 3600 * 1000;
const at = (days: number): VirtualClock => new VirtualClock(systemClock.now() + days * DAY_MS);
const SUBJECT = { commonName: 'apiserver', dnsNames: ['a.svc'] };

test.each<[string, () => Promise<KeyPair>]>([
  ['that has expired', async () => (await authority(at(-400), ca)).issue(SUBJECT)],
  ['that is not valid yet', async () => (await authority(at(1), ca)).issue(SUBJECT)],
  ['of another server', async () => ca.issue({ commonName: 'b', dnsNames: ['b.svc'] })],
  ['of another CA than the one beside it', async () => (await createCa(systemClock)).issue(SUBJECT)],
])(
  'a certificate %s takes the place of none that clients accept, and is served where there is nothing better',
  async (_, make) => {
    const [good, worse] = [await issue(), await make()];
    await mount('1', worse);
    const certificates = follow();
    expect(await next(certificates)).toBe(worse.certPem);
    await mount('2', good, (await createCa(systemClock)).certPem + ca.certPem);
    stop.abort();
    stop = new AbortController();
    const better = follow();
    expect(await next(better)).toBe(good.certPem);
    await mount('3', worse);
    const waiting = next(better);
    await until(clock, async () => (await unusable()) === 1, 1_000);
    const another = await issue();
    await mount('4', another);
    expect(await waiting).toBe(another.certPem);
  },
);

test('a certificate that was not valid yet is served from when it is', async () => {
  const [good, early] = [await issue(), await (await authority(at(1 / 12), ca)).issue(SUBJECT)];
  await mount('1', good);
  const certificates = follow();
  await next(certificates);
  await mount('2', early);
  const waiting = next(certificates);
  await until(clock, async () => (await unusable()) === 1, 1_000);
  await clock.advance(DAY_MS / 12);
  expect(await waiting).toBe(early.certPem);
});

test('a CA beside the certificate that has signed neither, or is missing, keeps no new certificate out', async () => {
  const others = await createCa(systemClock);
  const [first, second] = [await issue(), await issue()];
  await mount('1', first, others.certPem);
  const certificates = follow();
  await next(certificates);
  await mount('2', second, others.certPem);
  expect(await next(certificates)).toBe(second.certPem);
});

test('a folder that is still empty is waited for', async () => {
  const certificates = follow();
  const waiting = next(certificates);
  const first = await issue();
  await mount('1', first);
  expect(await waiting).toBe(first.certPem);
});

test('where clients show certificates, their CA is read as well, and again when it changes', async () => {
  const leaf = await issue();
  await mount('1', leaf);
  const certificates = follow(true);
  expect(await nextOf(certificates)).toMatchObject({ cert: leaf.certPem, clientCa: ca.certPem });
  const both = `${ca.certPem}\n${(await createCa(systemClock)).certPem}`;
  await mount('2', leaf, both);
  expect(await nextOf(certificates)).toMatchObject({ cert: leaf.certPem, clientCa: both });
});

test('a CA of clients that is none is passed over', async () => {
  const leaf = await issue();
  await mount('1', leaf);
  const certificates = follow(true);
  await nextOf(certificates);
  for (const [version, broken] of ['', 'no PEM', leaf.certPem].entries()) {
    await mount(`broken-${version}`, leaf, broken);
    const waiting = nextOf(certificates);
    await until(clock, async () => (await failures()) === 1, 1_000);
    metrics.certificateFailures.reset();
    await mount(`good-${version}`, leaf, `${ca.certPem}\n${' '.repeat(version)}`);
    await waiting;
  }
});
