import { describe, expect, test } from '@jest/globals';
import { statedAnswers } from '../../../runtime/api/k3os/answers.ts';
import type { ChannelStatus } from '../../../runtime/api/k3os/model.ts';
import { offerOf } from '../../../runtime/api/k3os/offer.ts';
import { asks, defaultChannel, shownOf, type Situation } from '../../../runtime/api/k3os/status.ts';
import { answers, channel, failed, found, missing, node, NOW, situation } from './channels.ts';

const shown = (more: Partial<Situation> = {}) => {
  const whole = situation(more);
  return shownOf(whole.channels[0]!, whole);
};
const reasons = ({ conditions }: ChannelStatus) => conditions?.map(({ type, reason }) => `${type} ${reason}`);
const latest = [channel({ version: 'latest' })];

describe('the newest release', () => {
  test('is asked for by one Ready node, which keeps its turn', () => {
    const nodes = [node('node-1', { ready: false }), node('node-2'), node('node-3')];
    expect(shown({ channels: latest, nodes }).status.polling).toBe('node-2');
    const polling = [channel({ version: 'latest' }, { status: { polling: 'node-3' } })];
    expect(shown({ channels: polling, nodes }).status.polling).toBe('node-3');
  });

  test('takes the place of the word in one write with the end of the turn, so that nobody sees one without the other', () => {
    const polling = [channel({ version: 'latest' }, { status: { polling: 'node-1' } })];
    expect(shown({ channels: polling, answers: answers({ latest: found('v0.12.0') }) })).toMatchObject({
      version: 'v0.12.0',
      status: { polling: '' },
    });
  });

  test('stays asked for while the source is away, at the pace of its answers', () => {
    const away = { channels: latest, answers: answers({ latest: failed(NOW + 5000) }) };
    expect([shown(away).status.polling, asks(latest[0]!, situation(away))]).toEqual(['node-1', false]);
    expect(asks(latest[0]!, situation({ ...away, now: NOW + 5000 }))).toBe(true);
    expect(reasons(shown(away).status)).toEqual(['Accepted Valid', 'Resolved SourceUnavailable']);
  });

  test('is no node’s turn where there is none', () => {
    expect(reasons(shown({ channels: latest, nodes: [] }).status)).toEqual(['Accepted Valid', 'Resolved NoNodes']);
    expect(shown({ channels: latest, nodes: [] }).status.polling).toBe('');
  });
});

describe('a release that is named', () => {
  test('is looked for at its source, but not where every node runs it', () => {
    const nodes = [node('node-1', { version: '0.12.0' })];
    expect(shown().status.polling).toBe('node-1');
    expect(shown({ nodes }).status.polling).toBe('');
    expect(reasons(shown({ nodes }).status)).toEqual(['Accepted Valid', 'Resolved Running']);
  });

  test('ends the turn of a controller once the source has said yes or no', () => {
    const channels = [channel({}, { status: { polling: 'gone' } })];
    const answered = (answer: Situation['answers']) => shown({ channels, answers: answer }).status;
    expect(answered(answers({ 'v0.12.0': found('v0.12.0') })).polling).toBe('');
    expect(answered(answers({ 'v0.12.0': missing() })).polling).toBe('');
    expect(reasons(answered(answers({ 'v0.12.0': missing() })))).toEqual(['Accepted Valid', 'Resolved NotFound']);
  });

  test('may be published later', () => {
    const later = situation({ answers: answers({ 'v0.12.0': missing(NOW) }) });
    expect(asks(later.channels[0]!, later)).toBe(true);
  });

  test('is still known to the next leader by the condition, and to nobody after the channel has come to mean another', () => {
    const { status } = shown({ answers: answers({ 'v0.12.0': found('v0.12.0') }) });
    const told = (spec: Parameters<typeof channel>[0]) => {
      const channels = [channel(spec, { status })];
      return offerOf(channels, statedAnswers(channels))?.kind;
    };
    expect(told({})).toBe('offered');
    expect(told({ version: 'v0.13.0' })).toBe('waits');
    expect(told({ url: 'github-releases://dweomer/k3os' })).toBe('waits');
  });
});

test('no node polls for an invalid channel, or for one of two', () => {
  const broken = [channel({ url: 'ftp://k3os' })];
  expect(shown({ channels: broken }).status.polling).toBe('');
  expect(reasons(shown({ channels: broken }).status)).toEqual(['Accepted Invalid', 'Resolved NotAccepted']);
  const two = [channel(), channel({}, { name: 'other' })];
  expect(shown({ channels: two }).status.polling).toBe('');
  expect(reasons(shown({ channels: two }).status)).toEqual(['Accepted Conflict', 'Resolved NotAccepted']);
});

test('it names the nodes that are being updated, without what the preview added, and keeps the conditions of others', () => {
  const other = { type: 'Other', status: 'True', reason: 'R', message: 'm', lastTransitionTime: 't' } as const;
  const channels = [channel({}, { status: { upgrading: ['node-10:uid'], conditions: [other] } })];
  const { status } = shown({ channels, nodes: [node('node-1'), node('node-2', { updating: true })] });
  expect(status.upgrading).toEqual(['node-2']);
  expect(status.conditions).toContainEqual(other);
});

test('a condition keeps its time for as long as its status', () => {
  const first = shown().status;
  const again = shown({ channels: [channel({}, { status: first })], now: NOW + 60_000 }).status;
  expect(again).toEqual(first);
});

describe('where there is no channel', () => {
  test('one is made that changes nothing', () => {
    const nodes = [node('node-1', { version: '0.20.4-k3s1r0' }), node('node-2', { version: '0.20.4-k3s1r0' })];
    expect(defaultChannel(nodes, 'k3os-system')).toEqual({
      apiVersion: 'k3os.io/v1',
      kind: 'UpdateChannel',
      metadata: { name: 'github-releases', namespace: 'k3os-system', annotations: { 'k3os.io/node': 'node-1' } },
      spec: { concurrency: 1, url: 'github-releases://rancher/k3os', version: 'v0.20.4-k3s1r0' },
    });
  });

  test.each(['0.20.4-k3s1r0', undefined])(
    'one is made that starts nothing where not all nodes run the newest version: beside it %s',
    (version) => {
      const nodes = [node('node-1', { version }), node('node-2', { version: '0.21.0' })];
      expect(defaultChannel(nodes, 'k3os-system')).toMatchObject({
        metadata: { annotations: { 'k3os.io/node': 'node-2' } },
        spec: { concurrency: 0, version: 'v0.21.0' },
      });
    },
  );

  test('none is made in the middle of an update: its node would be brought back', () => {
    expect(defaultChannel([node('node-1'), node('node-2', { updating: true })], 'k3os-system')).toBeUndefined();
  });

  test('none is made before a node says what it runs', () => {
    expect(defaultChannel([node('node-1', { version: undefined })], 'k3os-system')).toBeUndefined();
  });
});
