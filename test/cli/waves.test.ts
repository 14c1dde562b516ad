import { describe, expect, test } from '@jest/globals';
import { EMPTY } from '../../runtime/api/release/ledger.ts';
import type { Published } from '../../runtime/api/release/model.ts';
import type { Status, UpdateSettings } from '../../runtime/api/shadow/model.ts';
import { reachText } from '../../runtime/cli/waves/words.ts';
import { reachIn, turnLine, type Waves } from '../../runtime/cli/waves/waves.ts';
import { SEVEN_WAVES } from '../api/waves/seven.ts';

const FAMILY = 'aws-k8s-1.33/amd64';
const METADATA = 'https://updates.bottlerocket.aws/2020-07-07/aws-k8s-1.33/x86_64/';
const waves = Object.entries(SEVEN_WAVES).map(([seed, time]) => ({ seed: Number(seed), time }));
const PUBLISHED: Published = {
  firstSeenAt: '2026-08-25T18:10:00Z',
  maxVersion: '1.45.0',
  repositories: [{ metadata: METADATA, waves }],
};
const at = (time: string): number => Date.parse(`2026-08-${time}Z`);
const BEFORE = at('28T00:00:00');

interface Host {
  readonly seed?: number;
  readonly settings?: Partial<UpdateSettings> | null;
  readonly status?: Partial<Status>;
}

const statusOf = ({ seed = 512, settings = {}, status }: Host): Status => ({
  current_version: '1.44.0',
  target_version: '1.44.0',
  current_state: 'Idle',
  crash_count: 0,
  update_settings: settings && {
    seed,
    ignore_waves: false,
    version_lock: 'latest',
    metadata_base_url: METADATA,
    read_at: '2026-08-20T00:00:00Z',
    ...settings,
  },
  ...status,
});

function fleet(hosts: readonly Host[], published: Published | null = PUBLISHED): Waves {
  const ledger = { ...EMPTY, published };
  return {
    nodes: hosts.map((_, index) => ({ name: `n${index}`, shadowName: `brs-n${index}`, family: FAMILY })),
    shadows: hosts.map((host, index) => ({ name: `brs-n${index}`, status: statusOf(host) })),
    releases: { objects: [{ family: FAMILY, version: '1.45.0', ledger }] },
  };
}

const said = (host: Host, now = BEFORE, published?: Published) => turnLine(fleet([host], published), 'n0', now);

describe('a node that neither runs nor is offered a release', () => {
  test('is told when it comes, and by which wave', () => {
    expect(said({})).toBe(
      '1.45.0 is out; it reaches this node on Sat 29 Aug, 17:00 UTC (fourth wave of seven, seed 512)',
    );
    expect(said({ seed: 1844 })).toContain('Mon 31 Aug, 17:00 UTC (seventh wave of seven, seed 1844)');
  });

  test.each<[string, Host, string]>([
    ['another version that it is locked to', { settings: { version_lock: 'v1.43.0' } }, 'locked to 1.43.0'],
    [
      'another repository',
      { settings: { metadata_base_url: 'https://mirror.example/' } },
      'uses https://mirror.example/; name it in repositories',
    ],
    ['that its host tells nothing', { settings: null }, 'not known: its host does not tell its settings'],
    ['that its host tells no seed', { settings: { seed: null } }, 'not known: its host does not tell its seed'],
    [
      'that its wave has come, and when its host looked last',
      {
        seed: 1,
        status: {
          check: { failing_since: '2026-08-27T00:00:00Z', succeeded_at: '2026-08-27T23:00:00Z', error: '503' },
        },
      },
      'has not offered it: it last looked 1 h ago (503)',
    ],
    [
      'that it waits for no wave',
      { settings: { ignore_waves: true } },
      'waits for no wave, but the host has not offered it: its agent asks',
    ],
  ])('is told of %s', (_, host, words) => {
    expect(said(host)).toContain(words);
  });

  test('is told of a release above what its repository gives hosts', () => {
    expect(said({}, BEFORE, { ...PUBLISHED, maxVersion: '1.44.1' })).toContain('nothing above 1.44.1');
  });
});

test('nothing is said to a node that is offered it, or of what nobody has published', () => {
  expect(said({ status: { target_version: '1.45.0' } })).toBeUndefined();
  expect(turnLine(fleet([{}], null), 'n0', BEFORE)).toBeUndefined();
});

test('of a release it is said how many may have it, when half of the fleet may, and who waits for no wave', () => {
  const hosts = [
    { seed: 0 },
    { seed: 1 },
    { seed: 512 },
    { seed: 820 },
    { seed: 1844 },
    { settings: { version_lock: '1.44.0' } },
    { settings: null },
  ];
  const reach = (now: number) => reachIn(fleet(hosts), { family: FAMILY, version: '1.45.0' }, now);
  expect(reachText(reach(BEFORE)!)).toBe(
    '2 of 7 nodes may have it now, half by Sat 29 Aug, 17:00 UTC, all by Mon 31 Aug, 17:00 UTC; 1 locked to another version; 1 whose hosts do not tell',
  );
  expect(reachText(reach(at('29T17:00:00'))!)).toContain('3 of 7 nodes may have it now, all by Mon 31 Aug');
  expect(reachText(reach(at('31T17:00:00'))!)).toBe(
    '5 of 7 nodes may have it now; 1 locked to another version; 1 whose hosts do not tell',
  );
});

test('nothing is said of a release that all run', () => {
  const all = fleet([{ status: { current_version: '1.45.0' } }]);
  expect(reachIn(all, { family: FAMILY, version: '1.45.0' }, BEFORE)).toBeUndefined();
});
