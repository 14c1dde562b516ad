import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { InvalidPropsError, settingsOf } from '../../infra/props/settings.ts';
import { anyProps } from './any-props.ts';
import { chartOf } from './manifests.ts';

function faults(props: unknown): readonly string[] {
  try {
    settingsOf(props as BrupopProps);
  } catch (error) {
    if (error instanceof InvalidPropsError) return error.faults;
    throw error;
  }
  return [];
}

describe('faults of the props', () => {
  test('are reported all together, each with its path, what was expected and what came', () => {
    expect(
      faults({
        namespace: 'Not A Name',
        controller: { maxConcurrentUpdate: 'ten', monitoringTimeInSec: 1.5, maxFailedUpdate: 0 },
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
      'controller.maxConcurrentUpdate: expected a positive integer, a percentage or "unlimited", got "ten"',
      'controller.maxFailedUpdate: expected a positive integer, a percentage or "unlimited", got 0',
      'controller.monitoringTimeInSec: expected a whole number of seconds, 0 or more, got 1.5',
    ]);
  });

  test.each([
    [{ controler: {} }, 'controler: expected no such prop, got {}'],
    [{ labels: { 'brupop.bottlerocket.aws/component': 'x' } }, 'labels: expected keys that are not the operator’s own'],
    [{ agent: { podLabels: { 'app.kubernetes.io/part-of': 'x' } } }, 'agent.podLabels: expected keys'],
    [{ labels: { 'a b': 'x' } }, 'labels.a b: expected a label or annotation key'],
    [{ labels: { a: '-' } }, 'labels.a: expected a label value'],
    [{ image: { digest: 'sha256:1' } }, 'image.digest: expected a digest'],
    [
      { apiserver: { internalPort: 9000, httpPort: 9000 } },
      'apiserver.httpPort: expected another port than internalPort',
    ],
    [
      { controller: { schedule: { kind: 'cron', expression: '* * *' } } },
      'controller.schedule.expression: expected seven',
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
  ])('%j is refused with its path', (props, fault) => {
    expect(faults(props)).toEqual([expect.stringContaining(fault)]);
  });
});

test.each([
  [
    { controller: { maxConcurrentUpdate: 'Unlimited' }, agent: { excludeFromLbWaitTimeInSec: 60 } },
    /load balancers at once/,
  ],
  [{ controller: { maxConcurrentUpdate: 'unlimited', maxFailedUpdate: 'unlimited' } }, /bad release/],
  [{ apiserver: { drainTimeoutInSec: 0 } }, /for ever/],
  [{ apiserver: { replicas: 1 } }, /one replica/],
] as const)('%j is allowed with a warning on the construct', (props, text) => {
  const { brupop } = chartOf(props);
  expect(brupop.warnings).toEqual([expect.stringMatching(text)]);
  expect(brupop.node.metadata.map(({ data }) => data)).toEqual(brupop.warnings);
});

test('the defaults give no reason for a warning', () => {
  expect(chartOf().brupop.warnings).toEqual([]);
});

test('all valid props give objects of unique names, without an empty value and with nothing undefined', () => {
  fc.assert(
    fc.property(anyProps, (props) => {
      const objects = chartOf(props).toJson() as { kind: string; metadata: { name: string } }[];
      const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(JSON.stringify(objects)).not.toMatch(/undefined|NaN|\[object|"value":""/);
    }),
    { numRuns: 50 },
  );
});
