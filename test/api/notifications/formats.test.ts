import { describe, expect, test } from '@jest/globals';
import { NotificationConfigError, parseNotificationConfig } from '../../../runtime/api/notifications/config.ts';
import { type Fact, passes } from '../../../runtime/api/notifications/fact.ts';
import { contentOf } from '../../../runtime/api/notifications/formats.ts';

const FACT: Fact = {
  id: 'abc',
  kind: 'NotReturned',
  severity: 'warning',
  time: '2026-01-01T00:00:00Z',
  message: 'the <node> & its "agent" are {{kind}}',
  node: 'a',
  policy: 'production',
  version: '1.39.0',
};

const bodyOf = (format: 'cloudevents' | 'slack' | 'text', template?: string): string =>
  contentOf(FACT, { format, template, cluster: 'eu 1' }).body;

test('a CloudEvent has every attribute that the specification requires, and an id and source that a receiver can go by', () => {
  expect(JSON.parse(bodyOf('cloudevents'))).toEqual({
    specversion: '1.0',
    id: 'abc',
    source: '/brupop/eu%201',
    type: 'aws.bottlerocket.brupop.NotReturned',
    subject: 'node/a',
    time: '2026-01-01T00:00:00Z',
    datacontenttype: 'application/json',
    data: {
      kind: 'NotReturned',
      severity: 'warning',
      message: FACT.message,
      cluster: 'eu 1',
      node: 'a',
      policy: 'production',
      version: '1.39.0',
    },
  });
  expect(contentOf(FACT, { format: 'cloudevents', cluster: '' }).contentType).toMatch('application/cloudevents+json');
});

test('a message for Slack cannot be made to link, or to call everybody, by what a node says', () => {
  const { text } = JSON.parse(bodyOf('slack')) as { text: string };
  expect(text).toBe(':warning: *NotReturned* (eu 1, node/a): the &lt;node&gt; &amp; its "agent" are {{kind}}');
});

test('a template names fields, and what stands in a field is no template', () => {
  expect(bodyOf('text', '{{ kind }} on {{node}}{{family}}: {{message}}')).toBe(
    'NotReturned on a: the <node> & its "agent" are {{kind}}',
  );
  expect(bodyOf('text')).toBe('[eu 1] NotReturned node/a: the <node> & its "agent" are {{kind}}');
});

describe('the file of the controller', () => {
  const faultOf = (target: object, more: readonly object[] = []): string => {
    try {
      parseNotificationConfig(JSON.stringify({ cluster: 'c', targets: [target, ...more] }));
      return '';
    } catch (error) {
      expect(error).toBeInstanceOf(NotificationConfigError);
      return (error as Error).message;
    }
  };
  const target = { name: 'a', format: 'text' };

  test.each<[string, object, RegExp]>([
    ['a field that does not exist', { ...target, template: 'x {{mesage}}' }, /targets\.0\.template: .*\{\{mesage\}\}/],
    [
      'a template for others than text',
      { ...target, format: 'slack', template: '' },
      /targets\.0\.template: .*only the format text/,
    ],
    ['a kind that is none', { ...target, kinds: ['Halted'] }, /targets\.0\.kinds\.0: expected one of RolloutStarted/],
    [
      'a proxy with credentials',
      { ...target, proxy: 'http://u:hunter2@p' },
      /targets\.0\.proxy: .*belong into the Secret/,
    ],
    ['an address, which is a secret', { ...target, url: 'https://hunter2' }, /targets\.0: expected no url/],
    ['a name that leaves the folder', { ...target, name: '../x' }, /targets\.0\.name: expected a name/],
  ])('is refused by the name of the field, and not by its value: %s', (_what, given, fault) => {
    expect(faultOf(given)).toMatch(fault);
    expect(faultOf(given)).not.toMatch('hunter2');
  });

  test('names each target once', () => {
    expect([faultOf(target), faultOf(target, [target])]).toEqual(['', expect.stringMatching(/targets\.1\.name/)]);
  });
});

test('a target is told of its kinds and its policies, and of a test in any case', () => {
  const heard = (filter: Parameters<typeof passes>[0], fact: Partial<Fact> = {}): boolean =>
    passes(filter, { ...FACT, ...fact });
  expect([heard({}), heard({ kinds: ['UpdateFailed'] }), heard({ policies: ['other'] })]).toEqual([true, false, false]);
  expect([heard({ policies: ['production'] }), heard({ kinds: ['UpdateFailed'] }, { kind: 'Test' })]).toEqual([
    true,
    true,
  ]);
});
