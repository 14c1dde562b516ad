import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { EMPTY, type Ledger } from '../../../runtime/api/release/ledger.ts';
import type { Publication } from '../../../runtime/api/release/model.ts';
import { runs } from '../../random.ts';
import { plan as planOf } from '../../../runtime/controller/plan/plan.ts';
import { fleet, ledgerObject, moment, NOW, plan, POLICY, underRules, updated, type World } from './fleet.ts';
import { FAMILY } from './kept.ts';
import { anyWorld } from './policies.ts';

const WEEK = 7 * 1440;
const SAID: Publication = {
  maxVersion: '1.9.0',
  repositories: [
    {
      metadata: 'https://updates.example/aws-k8s-1.33/x86_64/',
      waves: [{ seed: 0, time: moment(60) }],
    },
  ],
};

const listing = (...versions: readonly string[]): NonNullable<World['releases']['published']> =>
  new Map([[FAMILY, new Map(versions.map((version) => [version, SAID]))]]);

interface Known {
  readonly listed?: readonly string[] | undefined;
  readonly ledgers?: Readonly<Record<string, Partial<Ledger>>>;
}

/** Nodes run 1.1.0 and are offered nothing. */
function atRest({ listed, ledgers = {} }: Known): World {
  const objects = Object.entries({ '1.1.0': {}, ...ledgers }).map(([version, ledger]) =>
    ledgerObject({ family: FAMILY, version }, { ...EMPTY, ...ledger }),
  );
  const published = listed && listing(...listed);
  return fleet(
    { a: updated },
    { releases: { objects, refused: new Map(), seeds: false, ...(published && { published }) } },
  );
}

const writesOf = (world: World) => planOf(underRules(world, POLICY), POLICY, { now: NOW }).ledger;
const writeOf = (world: World, version: string) => writesOf(world).find((one) => one.version === version);

describe('a release that repositories list', () => {
  test('has an object before anybody is offered it, in which nothing is counted yet', () => {
    const { name, ledger } = writeOf(atRest({ listed: ['1.2.0'] }), '1.2.0') ?? {};
    expect(name).toBe('1.2.0.aws-k8s-1.33.amd64');
    expect(ledger).toMatchObject({ state: 'Published', published: { ...SAID, firstSeenAt: moment(0) } });
    expect(ledger).toMatchObject({ policies: {}, unusedSince: null });
    expect(ledger?.firstOfferedAt).toBeUndefined();
  });

  test('has none where it is no newer than what the family runs', () => {
    const writes = writesOf(atRest({ listed: ['0.9.0', '1.1.0'] }));
    expect(writes.map(({ version }) => version)).toEqual(['1.1.0']);
  });

  test('has the twenty newest alone of any number', () => {
    const listed = Array.from({ length: 30 }, (_, index) => `1.${index + 2}.0`);
    const ahead = writesOf(atRest({ listed })).filter(({ version }) => version !== '1.1.0');
    expect(ahead).toHaveLength(20);
    expect(ahead.map(({ version }) => version)).toContain('1.31.0');
  });

  const seen = { published: { ...SAID, firstSeenAt: moment(-2 * WEEK) } };

  test('stays as long as it is listed, or not known to be withdrawn', () => {
    const known = writeOf(atRest({ listed: ['1.2.0'], ledgers: { '1.2.0': seen } }), '1.2.0')?.ledger;
    expect(known).toMatchObject({ unusedSince: null, published: { firstSeenAt: moment(-2 * WEEK) } });
    expect(writeOf(atRest({ listed: ['1.2.0'], ledgers: { '1.2.0': known! } }), '1.2.0')).toBeUndefined();
    expect(writeOf(atRest({ ledgers: { '1.2.0': known! } }), '1.2.0')).toBeUndefined();
  });

  test('is unused once it is withdrawn, and forgotten a week later', () => {
    const withdrawn = writeOf(atRest({ listed: [], ledgers: { '1.2.0': seen } }), '1.2.0');
    expect(withdrawn?.ledger).toMatchObject({ unusedSince: moment(0), published: null, state: 'Unused' });
    const old = { ...withdrawn?.ledger, unusedSince: moment(-WEEK) };
    expect(writeOf(atRest({ listed: [], ledgers: { '1.2.0': old } }), '1.2.0')).toMatchObject({ ledger: undefined });
  });

  test('is unused, though it is listed, where its family runs a newer one', () => {
    const passed = writeOf(atRest({ listed: ['1.0.5'], ledgers: { '1.0.5': seen } }), '1.0.5');
    expect(passed?.ledger).toMatchObject({ unusedSince: moment(0), published: SAID, state: 'Unused' });
  });

  test('is counted from when somebody is offered it', () => {
    const releases = { objects: [], refused: new Map(), seeds: false, published: listing('1.1.0') };
    expect(writeOf(fleet({ a: {} }, { releases }), '1.1.0')?.ledger).toMatchObject({
      state: 'Proving',
      firstOfferedAt: moment(0),
      policies: { '': { lastSeenAt: moment(0) } },
      published: SAID,
    });
  });
});

test('nothing that is done or said of nodes depends on what repositories list', () => {
  const versions = fc.subarray(['0.9.0', '1.0.0', '1.1.0', '1.2.0', '2.0.0']);
  const told = (world: World) => {
    const { ledger: _, ...rest } = plan(world, POLICY, NOW);
    return rest;
  };
  fc.assert(
    fc.property(anyWorld, versions, (world, listed) => {
      const written = { ...world, releases: { ...world.releases, published: listing(...listed) } };
      const kept = writesOf(written).flatMap(({ family, version, ledger }) =>
        ledger ? ledgerObject({ family, version }, ledger) : [],
      );
      const others = world.releases.objects.filter(({ name }) => kept.every((one) => one.name !== name));
      const without = { ...world, releases: { ...world.releases, objects: [...others, ...kept.filter(isOffered)] } };
      const after = { ...world, releases: { ...written.releases, objects: [...others, ...kept] } };
      expect(told(after)).toEqual(told(without));
    }),
    runs(300),
  );
});

const isOffered = ({ ledger }: { readonly ledger: Ledger }): boolean => ledger.firstOfferedAt != null;
