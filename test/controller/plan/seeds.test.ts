import { describe, expect, test } from '@jest/globals';
import type { Ledger } from '../../../runtime/api/release/ledger.ts';
import { plan } from '../../../runtime/controller/plan/plan.ts';
import { fleet, moment, NOW, type Parts, POLICY, ruling, underRules, type World } from './fleet.ts';
import { FAMILY, withLedger } from './kept.ts';

/** What a term takes over into the ledgers, whose predecessor has kept none: what policies and shadows say. */

const ledgerOf = (world: World): Ledger | undefined =>
  plan(underRules(world, POLICY), POLICY, { now: NOW }).ledger.find(({ version }) => version === '1.1.0')?.ledger;
const found = (world: World): World => ({ ...world, releases: { ...world.releases, seeds: true } });

describe('what the status of a policy says of a release', () => {
  const times = { firstOfferedAt: moment(-90), provenAt: moment(-60), completedAt: moment(-30) };
  const all = ruling('all', { selector: {} });
  const resource = { ...all.resource!, status: { releases: [{ family: FAMILY, version: '1.1.0', ...times }] } };
  const world = (ledger: Partial<Ledger> = {}): World =>
    withLedger(fleet({ a: {} }, { policies: [{ ...all, resource }] }), ledger);
  const { firstOfferedAt, ...underPolicy } = times;

  test('is taken over, as proven under this very policy and by its proof', () => {
    expect(ledgerOf(found(world()))).toMatchObject({
      firstOfferedAt,
      policies: { all: { ...underPolicy, uid: 'policy-all', met: '1 for 0s' } },
    });
  });

  test('is not read by a term whose predecessor has kept ledgers', () => {
    expect(ledgerOf(world())).toMatchObject({ firstOfferedAt: moment(0), policies: { all: { completedAt: null } } });
    expect(ledgerOf(world())?.policies['all']).not.toHaveProperty('provenAt');
  });

  test('changes nothing that the ledger knows', () => {
    const known = { provenAt: moment(-9), uid: 'policy-all', met: '1 for 0s', completedAt: moment(-8) };
    const ledger = { firstOfferedAt: moment(-10), policies: { all: known } };
    expect(ledgerOf(found(world(ledger)))).toMatchObject(ledger);
  });
});

describe('a failure that a shadow has on record', () => {
  const a: Parts = {
    status: { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(-5) },
  };
  const failed = (cleared?: number): readonly string[] => {
    // By the permit of the attempt, which no shadow names.
    const by = cleared === undefined ? {} : { cleared: { 'uid-a': { attempt: 'try', at: moment(cleared) } } };
    return Object.values(ledgerOf(found(withLedger(fleet({ a }), by)))?.failures ?? {}).map(({ node }) => node);
  };

  test('is entered, unless a person has cleared the node since', () => {
    expect([failed(), failed(-6), failed(-4)]).toEqual([['a'], ['a'], []]);
  });
});
