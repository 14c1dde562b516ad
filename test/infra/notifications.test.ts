import { expect, test } from '@jest/globals';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import type { NotificationKind } from '../../infra/index.ts';
import type { Kind } from '../../runtime/api/notifications/fact.ts';
import { parseNotificationConfig } from '../../runtime/api/notifications/config.ts';
import { faults } from './faults.ts';
import { container, find, literalEnv, type Manifest, manifests, podSpec } from './manifests.ts';
import { CA } from './pem.ts';

/** Notifications, of which there are none by default. */

const targets = [
  { name: 'chat', secret: 'chat-webhook', format: 'slack', kinds: ['RolloutHalted'] },
  { name: 'bus', secret: 'bus', format: 'cloudevents', policies: ['production'], caBundle: CA, port: 8443 },
  { name: 'far', secret: 'far', format: 'text', template: '{{kind}}', proxy: 'http://proxy.example.com:3128' },
] as const;
const networkPolicies = { enabled: true };
const silences = [
  { name: 'chat', secret: 'am', matchers: [{ name: 'instance', value: '{{node}}:.*', isRegex: true }] },
];
const objects = manifests({ cluster: 'eu-1', notifications: { targets, silences }, networkPolicies });

type IsSame = [Kind, NotificationKind] extends [NotificationKind, Kind] ? true : false;

test('targets can choose every kind, and no other', () => {
  const isSame: IsSame = true;
  expect(isSame).toBe(true);
});

test('with notifications, only the pod, ConfigMap, rights and network policy of the controller change', () => {
  const before = manifests({ cluster: 'eu-1', networkPolicies });
  const others = (all: readonly Manifest[]) =>
    all.filter(({ metadata: { name } }) => !/^brupop-(controller|notifications)/.test(name));
  expect(others(objects)).toEqual(others(before));
  expect(manifests({ notifications: { targets: [] } })).toEqual(manifests());
  expect(literalEnv(before, 'controller')).not.toHaveProperty('NOTIFICATIONS_DIR');
});

test('the controller understands what it finds where its variable says, and nothing there is a secret', () => {
  const { NOTIFICATIONS_DIR: dir } = readControllerConfig({ ...literalEnv(objects, 'controller'), MY_NODE_NAME: 'n' });
  expect(container(objects, 'controller').volumeMounts).toContainEqual({
    name: 'notifications',
    mountPath: dir,
    readOnly: true,
  });
  const {
    cluster,
    targets: read,
    silences: alertmanagers,
  } = parseNotificationConfig(find(objects, 'ConfigMap', 'brupop-notifications')['data']['config.json']);
  expect(cluster).toBe('eu-1');
  expect(alertmanagers).toEqual([{ ...silences[0], secret: undefined, durationInSec: 3600 }]);
  expect(read.map(({ name, format, proxy, ca }) => [name, format, proxy, ca !== undefined])).toEqual([
    ['chat', 'slack', undefined, false],
    ['bus', 'cloudevents', undefined, true],
    ['far', 'text', 'http://proxy.example.com:3128', false],
  ]);
});

test('a Secret that is not there keeps no controller from starting, and those that are lie in a folder each', () => {
  const [volume] = (podSpec(objects, 'controller') as { volumes: { projected: { sources: { secret?: object }[] } }[] })
    .volumes;
  const items = ['url', 'headers', 'proxy', 'token'].map((key) => ({ key, path: `chat/${key}` }));
  expect(volume?.projected.sources[0]).toEqual({ configMap: { name: 'brupop-notifications' } });
  expect(volume?.projected.sources[1]).toEqual({ secret: { name: 'chat-webhook', optional: true, items } });
  // Whatever a target is called, its folder is another.
  const own = ['url', 'headers', 'proxy', 'token'].map((key) => ({ key, path: `silences.chat/${key}` }));
  expect(volume?.projected.sources.slice(4)).toEqual([{ secret: { name: 'am', optional: true, items: own } }]);
});

test('the controller reaches the ports of its targets and of its proxies, and remembers in one ConfigMap', () => {
  const { egress } = find(objects, 'NetworkPolicy', 'brupop-controller').spec;
  const ports = [443, 3128, 8443, 9093].map((port) => ({ port, protocol: 'TCP' }));
  expect(egress).toContainEqual({ ports });
  const { rules: all } = find(objects, 'Role', 'brupop-controller-role') as { rules?: { resources: string[] }[] };
  const rules = all?.filter(({ resources }) => resources.includes('configmaps'));
  expect(rules).toContainEqual({
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: ['brupop-notifications-state'],
    verbs: ['get', 'list', 'watch', 'patch'],
  });
});

test.each<[string, object, string]>([
  [
    'a field of a template that does not exist',
    { format: 'text', template: '{{mesage}}' },
    'template: expected only the fields kind, severity',
  ],
  [
    'a template for others than text and JSON',
    { template: 'x' },
    'template: expected nothing: only the formats text and json have a template',
  ],
  ['a kind that is none', { kinds: ['Halted'] }, 'kinds.0: expected one of RolloutStarted'],
  ['an address, which belongs into a Secret', { url: 'https://hunter2' }, 'url: expected no such prop'],
  ['a proxy with credentials', { proxy: 'http://u:hunter2@proxy' }, 'proxy: expected a proxy such as'],
  ['a private key for a CA', { caBundle: 'hunter2' }, 'caBundle: expected certificates in PEM'],
])('is refused with its path, and without a secret: %s', (_what, more, fault) => {
  const given = faults({ notifications: { targets: [{ name: 'a', secret: 's', format: 'slack', ...more }] } });
  expect(given).toEqual([expect.stringContaining(`notifications.targets.0.${fault}`)]);
  expect(given.join('\n')).not.toMatch('hunter2');
});

test.each<[string, object, string]>([
  [
    'matchers that mean every node',
    { matchers: [{ name: 'severity', value: 'critical' }] },
    'matchers: expected one with {{node}}',
  ],
  [
    'a field that is not the node',
    { matchers: [{ name: 'node', value: '{{node}}{{x}}' }] },
    'matchers.0.value: expected no field but',
  ],
  ['a silence for ever', { durationInSec: 1e9 }, 'durationInSec: expected a whole number of seconds from 60 to 86400'],
])('is refused for an Alertmanager: %s', (_what, more, fault) => {
  const given = faults({ notifications: { silences: [{ name: 'a', secret: 's', ...more }] } });
  expect(given).toEqual([expect.stringContaining(`notifications.silences.0.${fault}`)]);
});

test('two targets of one name are refused', () => {
  const target = { name: 'a', secret: 's', format: 'slack' } as const;
  expect(faults({ notifications: { targets: [target, target] } })).toEqual([
    'notifications.targets.1.name: expected a name that no other has, got "a"',
  ]);
});
