import { describe, expect, test } from '@jest/globals';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
import { goingBackOf } from '../../../runtime/controller/plan/plan.ts';
import {
  fleet,
  ledgerObject,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  type Rules,
  ruling,
  started,
  underRules,
  type World,
} from './fleet.ts';
import { after, FAMILY, offered, said } from './leaving.ts';

/** Nodes that people take back from a release. Node a has updated from 1.0.0 to 1.1.0, and b is offered it. */

describe('a release that people roll back', () => {
  const GOOD = ledgerObject({ family: FAMILY, version: '1.1.0' });
  const b: Parts = { status: { current_version: '1.0.0', target_version: '1.1.0' } };
  const rolled = (rollbackFor: readonly string[], a = after(), more: Partial<World> = {}): World =>
    fleet({ a, b }, { releases: { objects: [{ ...GOOD, rollbackFor }], refused: new Map(), seeds: false }, ...more });
  const reasonsOf = (one: World): Record<string, string> => reasons(one, POLICY);

  test('is left though nobody has failed on it and no policy says so, and no other node starts on it', () => {
    const one = rolled(['*']);
    expect(said(one, POLICY)).toEqual([['brs-a', '1.0.0']]);
    expect(reasonsOf(one)).toEqual({ a: 'NotOffered', b: 'RolloutHalted' });
    const wanted = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    expect(said(rolled(['*'], wanted), POLICY)).toEqual([['a', '1.0.0']]);
  });

  test('is left under the policies that are named alone', () => {
    const [prod, test_] = [{ labels: { pool: 'prod' } }, { labels: { pool: 'test' } }] as const;
    const policies = ['prod', 'test'].map((name) =>
      ruling(name, { selector: { matchLabels: { pool: name } }, maxConcurrent: { kind: 'count', count: 1 } }),
    );
    const nodes = [node('a', prod), node('b', test_)];
    expect(said(rolled(['prod'], after(), { nodes, policies }), POLICY)).toEqual([['brs-a', '1.0.0']]);
    expect(started(rolled(['prod'], after(), { nodes, policies }))).toEqual(['b']);
    expect(said(rolled(['test'], after(), { nodes, policies }), POLICY)).toEqual([]);
    expect(reasonsOf(rolled(['test'], after(), { nodes, policies }))).toEqual({ a: 'UpToDate', b: 'RolloutHalted' });
  });

  test('is left though people let failures not halt it, and is not forgotten', () => {
    const releases = {
      objects: [{ ...GOOD, decision: 'Allow', rollbackFor: ['*'] } as const],
      refused: new Map(),
      seeds: false,
    };
    expect(said(fleet({ a: after() }, { releases }), POLICY)).toEqual([['brs-a', '1.0.0']]);
    const unused = { ...EMPTY, unusedSince: moment(-20 * 1440) };
    const objects = [{ ...GOOD, rollbackFor: ['*'], ledger: unused }];
    const { ledger } = plan(
      fleet(
        { c: { status: { current_version: '1.2.0', target_version: '1.2.0' } } },
        { releases: { ...releases, objects } },
      ),
      POLICY,
      NOW,
    );
    expect(ledger.filter(({ version }) => version === '1.1.0').map((one) => one.ledger?.state)).toEqual(['Halted']);
  });

  test.each<[string, Parts, Partial<Rules>, string]>([
    [
      'nobody knows a version that it could go back to',
      { ...after(), updatedFrom: undefined },
      {},
      'nobody knows a version that it could go back to',
    ],
    ['it came from a newer one', { ...after(), updatedFrom: '1.2.0' }, {}, 'it has come to it from 1.2.0'],
    ['its policy names it', after(), { version: { ...POLICY.version, exact: '1.1.0' } }, 'takes 1.1.0 alone'],
    [
      'its host says that no migrations lead there',
      after({
        version_wish: {
          ours: { version_lock: '1.0.0' },
          before: { version_lock: 'latest' },
          refused: 'NoMigrations',
          detail: 'no path',
        },
      }),
      {},
      'its host cannot go to 1.0.0: no path',
    ],
  ])('is not left where %s, and the verdict says so', (_, a, rules, message) => {
    const wanted = { ...a, spec: { version_wish: { version_lock: '1.0.0' } } };
    const { verdicts } = plan(rolled(['*'], wanted), { ...POLICY, ...rules }, NOW);
    expect(verdicts[0]).toMatchObject({ node: 'a', reason: 'NotOffered', message: expect.stringContaining(message) });
  });

  test.each<[string, Parts, object]>([
    ['goes', after({ update_settings: { version_lock: 'latest', read_at: moment(-9) } }), { to: '1.0.0' }],
    [
      'has its lock already',
      after({ update_settings: { version_lock: 'v1.0.0', read_at: moment(-9) } }),
      { to: '1.0.0' },
    ],
    [
      'is locked by somebody else',
      after({ update_settings: { version_lock: '1.1.0', read_at: moment(-9) } }),
      { to: '1.0.0', doubt: 'somebody else has locked its host to 1.1.0' },
    ],
    ['tells no settings', after(), { to: '1.0.0', doubt: expect.stringContaining('its host tells no settings') }],
    [
      'found no migrations',
      after({ version_wish: { ours: {}, before: {}, refused: 'NoMigrations', detail: 'no path' } }),
      { stays: 'its host cannot go to 1.0.0: no path' },
    ],
    [
      'never updated',
      { ...after(), updatedFrom: undefined },
      { stays: 'nobody knows a version that it could go back to' },
    ],
  ])('is known beforehand to be left, or not, by a node that %s', (_, a, way) => {
    const [one, ...others] = goingBackOf(underRules(rolled(['*'], a), POLICY), POLICY, { now: NOW });
    expect([one, others]).toEqual([{ node: 'a', family: FAMILY, runs: '1.1.0', ...way }, []]);
  });
});
