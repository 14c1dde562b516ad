import { describe, expect, test } from '@jest/globals';
import { offerOf } from '../../../runtime/api/k3os/offer.ts';
import { answers, channel, failed, found, missing, URL } from './channels.ts';

const known = answers({ 'v0.12.0': found('v0.12.0') });
const release = { kind: 'release', tag: 'v0.12.0', version: '0.12.0' };

describe('nodes may start on a release', () => {
  test('that one channel names, and that its source has', () => {
    expect(offerOf([channel()], known)).toEqual({ kind: 'offered', release, url: URL });
  });

  test('and on nothing without a channel', () => {
    expect(offerOf([], known)).toBeUndefined();
  });

  test('not before the source has answered', () => {
    expect(offerOf([channel()], new Map())).toMatchObject({ kind: 'waits', release });
    expect(offerOf([channel({ version: 'latest' })], answers({ latest: found('v0.12.0') }))).toMatchObject({
      kind: 'waits',
      release: undefined,
    });
  });

  test('not while a node polls, whichever wrote it there', () => {
    expect(offerOf([channel({}, { status: { polling: 'node-9' } })], known)).toMatchObject({ kind: 'waits', release });
  });

  test('not while the source is away, and then the node is told why', () => {
    const offer = offerOf([channel()], answers({ 'v0.12.0': failed() }));
    expect(offer).toMatchObject({ kind: 'waits', why: expect.stringContaining('nobody answers') });
  });

  test.each([
    ['does not exist', [channel()], answers({ 'v0.12.0': missing() })],
    ['comes from where nobody knows', [channel({ url: 'ftp://k3os' })], known],
  ])('never on one that %s', (_, channels, answered) => {
    expect(offerOf(channels, answered)).toMatchObject({ kind: 'refused', isConflict: false });
  });

  test('never where two channels speak to the same nodes, also if they say the same', () => {
    expect(offerOf([channel(), channel({}, { name: 'other' })], known)).toMatchObject({
      kind: 'refused',
      isConflict: true,
      why: expect.stringContaining('k3os-system/github-releases, k3os-system/other'),
    });
  });
});
