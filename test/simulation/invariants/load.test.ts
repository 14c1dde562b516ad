import { describe, expect, test } from '@jest/globals';
import type { SentEntry } from '../types.ts';
import { ABOUT_NODE, ABOUT_PODS, AGENT, HOST, load } from './load.ts';
import { Story } from './story.ts';

const ofAgent = { by: 'agent-n1', to: 'api', node: undefined, ofPods: false } as const;

function send(story: Story, sent: Omit<SentEntry, 'kind' | 'count'>, count: number): Story {
  for (let left = count; left > 0; left -= 10) story.tell({ kind: 'sent', ...sent, count: 10 });
  return story;
}

describe('load', () => {
  test('more requests in ten minutes than a process ever needs', () => {
    const most = AGENT.own / 6;
    expect(send(new Story(load), ofAgent, most).breaches).toEqual([]);
    expect(send(new Story(load), ofAgent, most + 20).breaches).toEqual([
      `agent-n1: more than ${most} requests in ten minutes`,
    ]);
    expect(send(send(new Story(load), ofAgent, most).after(10), ofAgent, most).breaches).toEqual([]);
  });

  test('more than a host is ever asked', () => {
    const most = HOST.own / 6;
    const story = new Story(load);
    for (let index = 0; index < most; index++) story.call('n1', 'reboot');
    expect(story.breaches).toEqual([]);
    expect(story.call('n1', 'reboot').breaches).toEqual([`the host of n1: more than ${most} requests in ten minutes`]);
  });

  test.each([
    ['controller', 'controllers'],
    ['apiserver', 'apiservers'],
  ] as const)('more of one node than each %s ever needs, though a fleet may need it', (kind, whose) => {
    const most = ABOUT_NODE[whose] / 6;
    const of = (node: string, process = `${kind}-0`) => ({ by: process, to: 'api', node, ofPods: false }) as const;
    const fleet = (): Story => new Story(load).fleet('n1', 'n2', 'n3');
    expect(send(send(fleet(), of('n1'), most), of('n2'), most).breaches).toEqual([]);
    expect(send(fleet(), of('n1'), most + 10).breaches).toEqual([
      `the ${whose}, about n1: more than ${most} requests in ten minutes`,
    ]);
    // A loop that goes from replica to replica is one.
    expect(send(send(fleet(), of('n1'), most), of('n1', `${kind}-1`), 10).breaches).toHaveLength(1);
  });

  test('more of the pods on a node than so many need', () => {
    const evictions = { by: 'apiserver-0', to: 'api', node: 'n1', ofPods: true } as const;
    const story = (): Story => new Story(load).fleet('n1', 'n2').pod('p', { node: 'n1' });
    const most = (ABOUT_PODS.own + ABOUT_PODS.perPod) / 6;
    expect(send(story(), evictions, most).breaches).toEqual([]);
    expect(send(story(), evictions, most + 10).breaches).toEqual([
      `the apiservers, about pods on n1: more than ${most} requests in ten minutes`,
    ]);
    // Another pod was there in these ten minutes.
    const two = story().pod('q', { node: 'n1' }).podGone('q', { by: 'apiserver-0' });
    expect(send(two, evictions, most + 10).breaches).toEqual([]);
    const elsewhere = story().pod('q', { node: 'n2' });
    expect(send(elsewhere, evictions, most + 10).breaches).toHaveLength(1);
  });

  test('what agents ask apiservers, but for those of the older operator and what is done for these', () => {
    const most = ABOUT_NODE.agents / 6;
    const asks = (by: string, count: number, story = new Story(load)): Story =>
      send(story, { by, to: 'apiserver', node: 'n1', ofPods: false }, count);
    expect(asks('agent-n1', most).breaches).toEqual([]);
    expect(asks('agent-n1', most + 10).breaches).toEqual([
      `agent-n1, to apiservers: more than ${most} requests in ten minutes`,
    ]);
    const older = asks('upstream-agent-n1', most + 10).fleet('n1');
    expect(older.breaches).toEqual([]);
    const reviews = { by: 'apiserver-0', to: 'api', node: 'n1', ofPods: false } as const;
    expect(send(older, reviews, ABOUT_NODE.apiservers / 6 + 10).breaches).toEqual([]);
  });
});
