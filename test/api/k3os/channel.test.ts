import { describe, expect, test } from '@jest/globals';
import type { ChannelObject } from '../../../runtime/api/k3os/model.ts';
import { channel } from './channels.ts';

describe('a channel is read as its users mean it', () => {
  test.each([
    ['v0.11.0', { kind: 'release', tag: 'v0.11.0', version: '0.11.0' }],
    [' v0.20.4-k3s1r0 ', { kind: 'release', tag: 'v0.20.4-k3s1r0', version: '0.20.4-k3s1r0' }],
    ['0.11.0', { kind: 'release', tag: '0.11.0', version: '0.11.0' }],
    ['latest', { kind: 'latest' }],
    ['Latest', { kind: 'latest' }],
    ['', { kind: 'latest' }],
    [null, { kind: 'latest' }],
  ])('version %j', (version, wish) => {
    expect(channel({ version })).toMatchObject({ wish, faults: [] });
  });

  test.each([
    ['github-releases://rancher/k3os', 'rancher/k3os'],
    ['github-releases://dweomer/k3os/', 'dweomer/k3os'],
    // The host's tool takes it for no URL, after the drain.
    [' github-releases://rancher/k3os\n', 'rancher/k3os'],
  ])('url %j', (url, repository) => {
    expect(channel({ url })).toMatchObject({ repository, url: `github-releases://${repository}`, faults: [] });
  });
});

describe('what cannot be obeyed is named with its field', () => {
  test.each([
    [{ url: 'https://github.com/rancher/k3os' }, 'spec.url'],
    [{ url: 'github-releases://rancher' }, 'spec.url'],
    // It would be asked for another path of the same server.
    [{ url: 'github-releases://rancher/..' }, 'spec.url'],
    [{ url: 'github-releases://rancher/k3os?x' }, 'spec.url'],
    [{ url: null }, 'spec.url'],
    [{ version: 'newest' }, 'spec.version'],
    [{ version: 'v0.11' }, 'spec.version'],
    [{ version: `v1.0.0-${'a'.repeat(200)}` }, 'spec.version'],
    [{ concurrency: -1 }, 'spec.concurrency'],
    // What follows gets past a definition without types, as older clusters have it.
    [{ concurrency: 1.5 }, 'spec.concurrency'],
    [{ concurrency: '1' }, 'spec.concurrency'],
    [{ version: 1 }, 'spec.version'],
    [{ url: ['github-releases://rancher/k3os'] }, 'spec.url'],
    [{ concurrency: null }, 'spec.concurrency'],
  ])('%j', (spec, path) => {
    expect(channel(spec as ChannelObject['spec']).faults).toEqual([
      expect.stringMatching(`^${path}: expected .*, got `),
    ]);
  });

  test('all of a spec that is not there', () => {
    expect(channel(null).faults).toHaveLength(2);
  });
});
