import { describe, expect, test } from '@jest/globals';
import { faults } from './faults.ts';
import { readControllerConfig, scheduleOf } from '../../runtime/controller/config.ts';
import type { Resources } from '../../infra/props/resources.ts';
import { chartOf, container, manifests } from './manifests.ts';

describe('faults of the props', () => {
  test('are reported all together, each with its path, what was expected and what came', () => {
    expect(
      faults({
        namespace: 'Not A Name',
        controller: {
          maxConcurrentUpdate: 'ten',
          monitoringTimeInSec: 1.5,
          maxFailedUpdate: 0,
          proofNodes: 'unlimited',
        },
        apiserver: { replicas: 0, internalPort: 80 },
        agent: { httpPort: '8080' },
        logging: { format: 'xml' },
      }),
    ).toEqual([
      'namespace: expected a namespace name (lower case letters, digits and "-", at most 63), got "Not A Name"',
      'logging.format: expected one of full, compact, pretty, json, got "xml"',
      'agent.httpPort: expected a port number from 1024 to 65535, got "8080"',
      'apiserver.replicas: expected a whole number, 1 or more, got 0',
      'apiserver.internalPort: expected a port number from 1024 to 65535, got 80',
      'controller.maxConcurrentUpdate: expected a whole number from 1 to 600, a percentage or "unlimited", got "ten"',
      'controller.maxFailedUpdate: expected a positive integer, a percentage or "unlimited", got 0',
      'controller.proofNodes: expected a whole number from 1 to 600 or a percentage, got "unlimited"',
      'controller.monitoringTimeInSec: expected a whole number of seconds, 0 or more, got 1.5',
    ]);
  });

  test.each([
    [{ controler: {} }, 'controler: expected no such prop: did you mean controller?'],
    [{ agent: { tolerationz: [] } }, 'agent.tolerationz: expected no such prop: did you mean tolerations?'],
    [
      { maxConcurrentUpdate: 2 },
      'maxConcurrentUpdate: expected no such prop: did you mean controller.maxConcurrentUpdate?',
    ],
    [{ tls: {} }, 'tls: expected no such prop'],
    [{ namespace: 'default' }, 'namespace: expected a namespace of its own (its pods may be privileged, '],
    [{ namespace: 'kube-system' }, 'namespace: expected a namespace of its own (its pods may be privileged, '],
    [
      { labels: { 'brupop.bottlerocket.aws/component': 'x' } },
      'labels.brupop.bottlerocket.aws/component: expected a key that is not the operator’s own, got "x"',
    ],
    [
      { agent: { podLabels: { 'app.kubernetes.io/part-of': 'x' } } },
      'agent.podLabels.app.kubernetes.io/part-of: expected a key',
    ],
    [{ labels: { 'a b': 'x' } }, 'labels.a b: expected a label or annotation key'],
    [{ labels: { a: '-' } }, 'labels.a: expected a label value'],
    [{ image: { digest: 'sha256:1' } }, 'image.digest: expected a digest'],
    [
      { apiserver: { internalPort: 9000, httpPort: 9000 } },
      'apiserver.httpPort: expected another port than internalPort',
    ],
    [
      { controller: { schedule: { kind: 'cron', expression: '0 2 * * *' } } },
      'controller.schedule.expression: expected seven cron fields, second to year (the five of crontab lack the second), ' +
        'got "0 2 * * *"',
    ],
    [
      { controller: { schedule: { kind: 'window', start: '24:00:00', stop: '01:00:00' } } },
      'controller.schedule.start:',
    ],
    [
      { controller: { schedule: { kind: 'window', start: '01:00:00', stop: '01:00:00' } } },
      'controller.schedule.stop:',
    ],
    [
      { controller: { schedule: { kind: 'cron', expression: '* * * * * * *', timeZone: 'Mars' } } },
      'controller.schedule.timeZone: expected an IANA time zone like Europe/Berlin, got "Mars"',
    ],
    [{ controller: { schedule: { kind: 'never' } } }, 'controller.schedule.kind: expected cron or window, got "never"'],
    [
      { certificates: { kind: 'self-signed', renewBefore: '2160h' } },
      'certificates.renewBefore: expected less than duration',
    ],
    [
      { certificates: { kind: 'self-signed', duration: '2160h', caDuration: '2159h' } },
      'certificates.caDuration: expected no less than duration, got "2159h"',
    ],
    [
      { agent: { resources: { limits: { memory: '32Mi' } } } },
      'agent.resources.limits.memory: expected no less than the request of 64Mi, got "32Mi"',
    ],
    [
      { agent: { resources: { requests: { memory: '1Gi' } } } },
      'agent.resources.requests.memory: expected no more than the limit of 128Mi, got "1Gi"',
    ],
    [
      { agent: { resources: { requests: { memory: '64 MB' }, limits: {} } } },
      'agent.resources.requests.memory: expected a quantity',
    ],
    [
      { apiserver: { resources: { requests: { cpu: '500m', memory: '1G' }, limits: { cpu: '0.5', memory: '64Mi' } } } },
      'apiserver.resources.requests.memory: expected no more than the limit of 64Mi, got "1G"',
    ],
    [
      { agent: { tolerations: [{ value: 'x' }] } },
      'agent.tolerations.0.operator: expected Exists, since there is no key',
    ],
    [
      { agent: { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] } },
      'agent.tolerations.0.value: expected none with operator Exists, got "x"',
    ],
    [
      { agent: { tolerations: [{ key: 'a', tolerationSeconds: 5 }] } },
      'agent.tolerations.0.effect: expected NoExecute',
    ],
    [
      { certificates: { kind: 'self-signed', duration: '24h' } },
      'certificates.renewBefore: expected less than duration, got nothing, which means "720h"',
    ],
    [
      { apiserver: { internalPort: 8080 } },
      'apiserver.httpPort: expected another port than internalPort, got nothing, which means 8080',
    ],
    [{ labels: { team: 'us', 'app.kubernetes.io/name': 'x' } }, 'labels.app.kubernetes.io/name: expected a key'],
  ])('%j is refused with its path', (props, fault) => {
    expect(faults(props)).toEqual([expect.stringContaining(fault)]);
  });

  test.each([
    [{ apiserver: { replicas: -1.5 } }, ['apiserver.replicas']],
    [{ apiserver: { internalPort: 80, httpPort: 80 } }, ['apiserver.internalPort', 'apiserver.httpPort']],
    [{ certificates: { kind: 'self-signed', duration: 'a year' } }, ['certificates.duration']],
    [{ certificates: { kind: 'issuer', name: 'x', renewBefore: '0h' } }, ['certificates.renewBefore']],
    [
      { controller: { schedule: { kind: 'window', start: 'noon', stop: 'noon' } } },
      ['controller.schedule.start', 'controller.schedule.stop'],
    ],
    [{ agent: { resources: { requests: { cpu: 'much' }, limits: { cpu: '1m' } } } }, ['agent.resources.requests.cpu']],
    [
      { agent: { tolerations: [{ key: 'a b', value: '-' }] } },
      ['agent.tolerations.0.key', 'agent.tolerations.0.value'],
    ],
  ])('%j: each prop is found fault with once, and what is wrong is compared with nothing', (props, paths) => {
    expect(faults(props).map((fault) => fault.slice(0, fault.indexOf(':')))).toEqual(paths);
  });

  test('name what came also where it cannot be written down', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const props = {
      cluster: circular,
      namespace: 1n,
      agent: { apiSocket: ['/run'], httpPort: NaN, seLinuxType: () => 'super_t' },
      apiserver: null,
      labels: { team: Symbol('us') },
      annotations: { note: circular },
    };
    expect(faults(props).map((fault) => fault.replace(/expected .*, got/, 'got'))).toEqual([
      'cluster: got an object',
      'namespace: got 1n',
      'labels.team: got a symbol',
      'annotations.note: got an object',
      'agent.httpPort: got NaN',
      'agent.apiSocket: got a list',
      'agent.seLinuxType: got a function',
      'apiserver: got null',
    ]);
  });
});

test('faults of single props and those between them are told at once, each of them', () => {
  const policy = { nodeSelector: {} };
  const target = { secret: 's', format: 'slack' };
  const props = {
    labels: { 'a b': 'x', 'app.kubernetes.io/name': 'x' },
    agent: {
      env: { '1': 'x', HTTP_PORT: '1' },
      resources: { requests: { cpu: 'much', memory: '1Gi' }, limits: { memory: '1Mi' } },
    },
    apiserver: {
      topologySpreadConstraints: [
        { maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
        null,
      ],
    },
    notifications: {
      targets: [
        { ...target, name: 'a', template: 'x', kinds: ['no'] },
        { ...target, name: 'a', url: 'x' },
        { ...target, name: 'a' },
      ],
    },
    policies: [
      { ...policy, name: 'one', after: ['two', 'tow', 5], paused: 'no' },
      { ...policy, name: 'two', after: ['one'] },
      { ...policy, name: 'two', afer: [] },
      { ...policy, name: 'three', after: ['four'] },
      { ...policy, name: 'four', after: ['three'] },
    ],
  };
  expect(
    faults(props)
      .map((fault) => fault.slice(0, fault.indexOf(':')))
      .toSorted(),
  ).toEqual([
    'agent.env.1',
    'agent.env.HTTP_PORT',
    'agent.resources.requests.cpu',
    'agent.resources.requests.memory',
    'apiserver.topologySpreadConstraints.0.maxSkew',
    'apiserver.topologySpreadConstraints.1.topologyKey',
    'apiserver.topologySpreadConstraints.2',
    'labels.a b',
    'labels.app.kubernetes.io/name',
    'notifications.targets.0.kinds.0',
    'notifications.targets.0.template',
    'notifications.targets.1.name',
    'notifications.targets.1.url',
    'notifications.targets.2.name',
    'policies.0.after',
    'policies.0.after.1',
    'policies.0.after.2',
    'policies.0.paused',
    'policies.2.afer',
    'policies.2.name',
    'policies.3.after',
  ]);
});

test('of resources, the part that is not given keeps its defaults, and one that is given is all that there is', () => {
  const resources = (given: Resources) => container(manifests({ agent: { resources: given } }), 'agent').resources;
  expect(resources({ limits: { memory: '1Gi' } })).toEqual({
    requests: { cpu: '10m', memory: '64Mi' },
    limits: { memory: '1Gi' },
  });
  expect(resources({ requests: { memory: '32Mi' } })).toEqual({
    requests: { memory: '32Mi' },
    limits: { memory: '128Mi' },
  });
  expect(resources({ limits: {} })).toEqual({ requests: { cpu: '10m', memory: '64Mi' }, limits: {} });
});

test('six cron fields are those without the year: to the controller as in the warning', () => {
  const open = (expression: string, moment: string) =>
    scheduleOf(readControllerConfig({ MY_NODE_NAME: 'n', SCHEDULER_CRON_EXPRESSION: expression })).at(
      Date.parse(moment),
    ).open;
  const expression = '* * 2 * * Sun';
  const { warnings } = chartOf({ controller: { schedule: { kind: 'cron', expression } } }).brupop;
  expect(warnings).toEqual([expect.stringContaining('six fields, second to day of week, without the year')]);
  for (const moment of ['2026-01-04T02:30:00Z', '2027-01-03T02:30:00Z']) expect(open(expression, moment)).toBe(true);
  expect(open(expression, '2026-01-05T02:30:00Z')).toBe(false);
});

test.each([
  [
    { controller: { maxConcurrentUpdate: 'Unlimited' }, agent: { excludeFromLbWaitTimeInSec: 60 } },
    /load balancers at once/,
  ],
  [{ controller: { maxConcurrentUpdate: 'unlimited', maxFailedUpdate: 'unlimited' } }, /bad release/],
  [{ apiserver: { drainTimeoutInSec: 0 } }, /for ever/],
  [{ apiserver: { replicas: 1 } }, /one replica/],
  [{ agent: { resources: { limits: { cpu: '1' } } } }, /^agent\.resources\.limits without memory/],
  [{ networkPolicies: { metricsNamespace: 'monitoring' } }, /^networkPolicies\.enabled is false/],
  [{ networkPolicies: { kubernetesApiCidrs: ['10.0.0.0/24'] } }, /^networkPolicies\.enabled is false/],
] as const)('%j is allowed with a warning on the construct', (props, text) => {
  const { brupop } = chartOf(props);
  expect(brupop.warnings).toEqual([expect.stringMatching(text)]);
  expect(brupop.node.metadata.map(({ data }) => data)).toEqual(brupop.warnings);
});

test('the defaults give no reason for a warning', () => {
  expect(chartOf().brupop.warnings).toEqual([]);
});
