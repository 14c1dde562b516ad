import { expect } from '@jest/globals';
import { LB_LABEL } from '../../../runtime/marks/names.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import type { AnyOrder, Call } from './api.ts';
import {
  budgetsAnswer,
  cordoned,
  cordons,
  evicts,
  follows,
  lists,
  looks,
  node,
  NODES,
  pod,
  progress,
  readsBudgets,
  refused,
  shadow,
  SINCE,
  spentBudget,
  states,
  tells,
} from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

const web = pod('web-1');
const WHY = 'PodDisruptionBudget shop/web (pod shop/web-1)';
const BLOCKED = progress(1, WHY);
const read = readsBudgets(spentBudget('web'));

/** The first look, which finds what stands in the way. */
const refuses = (): (Call | AnyOrder)[] => [
  ...looks(node('n1'), shadow('s1')),
  lists(web),
  read,
  [tells('DrainRefused', WHY), states('s1', BLOCKED, shadow('s2', { drain: BLOCKED }))],
];

/** The Event that there is counts once more. */
const tellsAgain: Call = {
  line: `PATCH /api/v1/namespaces/default/events/n1.${Date.parse(SINCE).toString(16)}.0`,
  body: { count: 2 },
  answer: {},
};

const excludes: Call = {
  line: `PATCH ${NODES}/n1`,
  body: { metadata: { resourceVersion: 'n1', labels: { [LB_LABEL]: 'True' } } },
  answer: node('n2'),
};

/** From the cordon on. */
const goesOn = (...pods: readonly object[]): (Call | AnyOrder)[] => [
  cordons('n1', cordoned('n2')),
  [tells('DrainStarted'), lists(...pods)],
];

play('before a drain that cannot end as things are', {
  'people are told, and the node is drained as far as it goes': async () => {
    const pods = [web, pod('free', { metadata: { labels: {} } })];
    const drained = on.drains(
      ...looks(node('n1'), shadow('s1')),
      lists(...pods),
      read,
      [tells('DrainBlocked', WHY), states('s1', progress(2, WHY), shadow('s2'))],
      ...goesOn(...pods),
      [...follows(cordoned('n2'), ...pods), evicts('web-1'), evicts('free')],
    );
    expect(await outcome(drained)).toBe('pending');
  },

  'with "refuse" the node stays in service, and is drained once things have changed': async () => {
    const { api } = on.sets(...refuses());
    const { drain } = on.scene.replica('refuse');
    expect(await outcome(drain())).toBe('409 Undrainable');
    const again = looks(node('n1'), shadow('s2', { drain: BLOCKED }));
    api.expects(...again, lists(web), read, tellsAgain);
    expect(await outcome(drain())).toBe('409 Undrainable');
    on.sets(...again, lists(web), readsBudgets(), states('s2', progress(1), shadow('s3')), ...goesOn(web), [
      ...follows(cordoned('n2'), web),
      evicts('web-1'),
    ]);
    expect(await outcome(on.scene.replica('refuse').drain())).toBe('pending');
  },

  'with "refuse" the node stays with its load balancers too': async () => {
    const { api, agent } = on.sets(...refuses());
    const { service } = on.scene.replica('refuse');
    expect(await outcome(service.excludeFromLb(agent))).toBe('409 Undrainable');
    api.expects(
      ...looks(node('n1'), shadow('s2', { drain: BLOCKED })),
      lists(web),
      readsBudgets(),
      ...looks(node('n1'), shadow('s2', { drain: BLOCKED })),
      excludes,
    );
    expect(await outcome(service.excludeFromLb(agent))).toBe('ok');
  },

  'two budgets on one pod are among what stands in the way': async () => {
    const why = '2 PodDisruptionBudgets at once: shop/one, shop/two (pod shop/web-1)';
    on.sets(...looks(node('n1'), shadow('s1')), lists(web), readsBudgets(spentBudget('one'), spentBudget('two')), [
      tells('DrainRefused', why),
      states('s1', progress(1, why), shadow('s2')),
    ]);
    await expect(on.scene.replica('refuse').drain()).rejects.toThrow(why);
  },

  'budgets that cannot be read stand in the way with "refuse" alone': async () => {
    const unread = [...looks(node('n1'), shadow('s1')), lists(web), budgetsAnswer(refused(403))];
    on.sets(...unread);
    await expect(on.scene.replica('refuse').drain()).rejects.toThrow('403');
    const drained = on.drains(...unread, states('s1', progress(1), shadow('s2')), ...goesOn(web), [
      ...follows(cordoned('n2'), web),
      evicts('web-1'),
    ]);
    expect(await outcome(drained)).toBe('pending');
  },
});
