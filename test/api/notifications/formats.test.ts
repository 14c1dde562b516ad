import { describe, expect, test } from '@jest/globals';
import { NotificationConfigError, parseNotificationConfig } from '../../../runtime/api/notifications/config.ts';
import { type Fact, joined, passes } from '../../../runtime/api/notifications/fact.ts';
import { contentOf } from '../../../runtime/api/notifications/formats.ts';
import { examples } from '../../documents.ts';

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

const templates = examples('docs/notifications.md', 'json').filter(([, source]) => source.includes('{{'));

test.each(templates)('a template of JSON stays JSON, whatever a node says: that under "%s"', (_, template) => {
  const target = { name: 'a', format: 'json', template } as const;
  expect(() => parseNotificationConfig(JSON.stringify({ cluster: 'c', targets: [target] }))).not.toThrow();
  const message = 'it said "no"\\\n{"routing_key":"x"} {{token}}';
  const { body, contentType } = contentOf({ ...FACT, message }, { ...target, cluster: 'eu "1"', token: 't' });
  expect(contentType).toMatch('application/json');
  const texts: unknown[] = [];
  JSON.parse(body, (_key, value: unknown) => texts.push(value));
  expect(texts).toContainEqual(expect.stringContaining(message));
  expect(texts).toContainEqual(expect.stringContaining('eu "1"'));
});

test('the same of several nodes is one message, which names some of them and what is said of the first', () => {
  const of = (index: number): Fact => ({ ...FACT, id: `i${index}`, node: `node-${index}`, message: `node ${index}` });
  const all = Array.from({ length: 200 }, (_, index) => of(index)).reduce((one, other) => joined(one, other) ?? one);
  const { subject, id, data } = JSON.parse(contentOf(all, { format: 'cloudevents', cluster: 'c' }).body);
  expect([subject, id, data.count, data.nodes.length, data.node]).toEqual(['200 nodes', 'i0-200', 200, 20, undefined]);
  expect(data.message).toMatch(/^node-0, node-1, .* node-19 and 180 more; node-0: node 0$/);
  expect(joined(of(0), of(0))).toBeUndefined();
  for (const other of [{ kind: 'UpdateFailed' }, { policy: 'other' }, { version: '1' }] as const)
    expect(joined(of(0), { ...of(1), ...other })).toBeUndefined();
  const { node: _, ...fleet } = FACT;
  expect([joined(fleet, of(1)), joined(of(1), fleet)]).toEqual([undefined, undefined]);
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
      'a template for others than text and JSON',
      { ...target, format: 'slack', template: '' },
      /targets\.0\.template: .*only the formats text and json/,
    ],
    ...[undefined, '{', '{ "a": [{{kind}}] }', '{ "a": 1{{id}} }'].map((template): [string, object, RegExp] => [
      `the template ${template} for JSON`,
      { ...target, format: 'json', template },
      /targets\.0\.template: expected JSON, with fields/,
    ]),
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
