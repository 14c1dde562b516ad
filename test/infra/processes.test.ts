import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { agentEnv, readAgentConfig } from '../../runtime/agent/config.ts';
import { apiserverEnv, readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { controllerEnv, readControllerConfig } from '../../runtime/controller/config.ts';
import { IMAGE_PROGRAMS } from '../../runtime/image/programs.ts';
import type { EnvVar } from '../../runtime/lib/env.ts';
import { PUBLIC_PATHS } from '../../runtime/apiserver/config.ts';
import { anyProps } from './any-props.ts';
import { container, find, literalEnv, manifests, podSpec, type Process, PROCESSES, workload } from './manifests.ts';
import { runs } from '../random.ts';

const SCHEMAS = { agent: agentEnv, apiserver: apiserverEnv, controller: controllerEnv };
const READERS = { agent: readAgentConfig, apiserver: readApiserverConfig, controller: readControllerConfig };
const objects = manifests();
/** What Node's own program takes, whatever it runs. */
const NODE_MIB = 55;

/** The environment of a pod as the process would find it. */
function environmentOf(process: Process, from = objects): Record<string, string> {
  const fields = (container(from, process).env as readonly { name: string; valueFrom?: object }[])
    .filter(({ valueFrom }) => valueFrom !== undefined)
    .map(({ name }) => [name, 'from-the-pod']);
  return { ...literalEnv(from, process), ...Object.fromEntries(fields) };
}

describe.each(PROCESSES)('what the manifests say to the %s', (process) => {
  test('is understood by it without a fault', () => {
    expect(() => READERS[process](environmentOf(process))).not.toThrow();
  });

  test('has only names that it reads, or that the C library does', () => {
    const read = Object.keys({ ...SCHEMAS[process], ...IMAGE_PROGRAMS[process].env });
    expect(read).toEqual(expect.arrayContaining(Object.keys(environmentOf(process))));
  });

  test('ends its heap below the limit of its container, with room for Node itself', () => {
    const { command, resources } = container(objects, process) as {
      readonly command: readonly string[];
      readonly resources: { readonly limits: { readonly memory: string } };
    };
    const shares = command.flatMap((part) => /^--max-old-space-size-percentage=(\d+)$/.exec(part)?.[1] ?? []);
    const limit = Number(/^(\d+)Mi$/.exec(resources.limits.memory)?.[1]);
    expect(shares).toHaveLength(1);
    expect(limit - (limit * Number(shares[0])) / 100).toBeGreaterThan(NODE_MIB);
  });

  test('leaves its defaults as they are', () => {
    const required = Object.entries(SCHEMAS[process]).filter(([, variable]) => variable.default === undefined);
    const bare = Object.fromEntries(required.map(([name]) => [name, 'from-the-pod']));
    const {
      MY_POD_NAME: _,
      TERMINATION_LOG: __,
      REPOSITORIES_DIR: ___,
      ...stated
    } = READERS[process](environmentOf(process)) as Record<string, unknown>;
    expect(READERS[process](bare)).toMatchObject(stated);
  });

  test('sends probes and scrapes to the port that it listens on', () => {
    const { ports, startupProbe, livenessProbe, readinessProbe } = container(objects, process);
    const http = ports.find(({ name }: { name: string }) => name === 'http');
    expect(String(http.containerPort)).toBe(literalEnv(objects, process)['HTTP_PORT']);
    const healthy = { path: '/healthz', port: 'http', scheme: 'HTTP' };
    expect([startupProbe.httpGet, livenessProbe.httpGet]).toEqual([healthy, healthy]);
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http', scheme: 'HTTP' });
  });

  test('is not asked whether it lives before it can listen, so that a start is nothing to warn of', () => {
    const { startupProbe } = container(objects, process);
    expect(startupProbe.initialDelaySeconds).toBe(1);
    // Not later than it would be asked again.
    expect(startupProbe.periodSeconds).toBeGreaterThanOrEqual(startupProbe.initialDelaySeconds);
  });

  test('logs what it is told to by itself, and otherwise what all are told', () => {
    const logging = { filter: 'warn' };
    const filter = (props: object): unknown => literalEnv(manifests(props), process)['TRACING_FILTER_DIRECTIVE'];
    expect(filter({ logging })).toBe('warn');
    expect(filter({ logging, [process]: { logFilter: 'debug' } })).toBe('debug');
  });

  test('is found by the annotations of its pods where that is asked for and it has metrics', () => {
    const annotations = (props: object): unknown =>
      workload(manifests(props), process).spec.template.metadata.annotations;
    expect(annotations({})).toBeUndefined();
    const port = literalEnv(objects, process)['HTTP_PORT'];
    const scraped = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': port, 'prometheus.io/path': '/metrics' };
    expect(annotations({ scrapePods: true })).toEqual(process === 'agent' ? undefined : scraped);
  });

  test('has labels and annotations of its own on its workload, and others on its pods', () => {
    const own = { workloadLabels: { team: 'a' }, workloadAnnotations: { 'reloader.example.com/auto': 'true' } };
    const { metadata, spec } = workload(manifests({ [process]: { ...own, podLabels: { team: 'b' } } }), process);
    expect(metadata).toMatchObject({ labels: own.workloadLabels, annotations: own.workloadAnnotations });
    expect(spec.template.metadata.labels.team).toBe('b');
    expect(spec.template.metadata).not.toHaveProperty('annotations');
  });

  test('has no port name twice and none that does not exist', () => {
    const names = container(objects, process).ports.map(({ name }: { name: string }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

test.each([
  ['brupop-apiserver', 'apiserver'],
  ['brupop-controller-server', 'controller'],
])('the Service %s names its port to Prometheus, unless told otherwise', (name, process) => {
  const annotations = (props: object): unknown => find(manifests(props), 'Service', name).metadata.annotations;
  const scrape = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080' };
  expect(annotations({})).toEqual(scrape);
  const mine = { 'prometheus.io/scrape': 'false', 'example.com/team': 'platform' };
  expect(annotations({ [process]: { serviceAnnotations: mine } })).toEqual({ ...scrape, ...mine });
  expect(annotations({ scrapeServices: false })).toBeUndefined();
  expect(annotations({ scrapeServices: false, [process]: { serviceAnnotations: mine } })).toEqual(mine);
});

test('every variable that is a time in seconds says that it expects seconds', () => {
  const variables: [string, EnvVar<unknown>][] = Object.values(SCHEMAS).flatMap((schema) => Object.entries(schema));
  const silent = variables.filter(([name, { expected }]) => name.endsWith('_IN_SEC') && !expected.includes('seconds'));
  expect(silent).toEqual([]);
});

test('all valid props give objects of unique names, without an empty value, with nothing undefined, and understood by every process', () => {
  fc.assert(
    fc.property(anyProps, (props) => {
      const from = manifests(props);
      const names = from.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(JSON.stringify(from)).not.toMatch(/undefined|NaN|\[object|"value":""/);
      for (const process of PROCESSES) READERS[process](environmentOf(process, from));
    }),
    runs(50),
  );
});

test('the mounts are where the processes look', () => {
  const mountPaths = (process: Process) =>
    container(objects, process).volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
  expect(mountPaths('apiserver')).toEqual([readApiserverConfig({}).TLS_DIR]);
  const agent = readAgentConfig({ MY_NODE_NAME: 'n' });
  expect(mountPaths('agent')).toEqual([
    agent.BOTTLEROCKET_API_SOCKET,
    agent.AGENT_TOKEN_PATH.replace(/\/[^/]*$/, ''),
    agent.TLS_DIR,
  ]);
});

test('the Service, the webhook and the agents agree on the port of the apiserver', () => {
  const moved = manifests({ apiserver: { servicePort: 8444, internalPort: 9443 } });
  const service = find(moved, 'Service', 'brupop-apiserver').spec.ports[0];
  expect(service).toMatchObject({ port: 8444, targetPort: 'api' });
  expect(container(moved, 'apiserver').ports).toContainEqual({ name: 'api', containerPort: 9443, protocol: 'TCP' });
  expect(literalEnv(moved, 'apiserver')['APISERVER_INTERNAL_PORT']).toBe('9443');
  expect(literalEnv(moved, 'agent')['APISERVER_SERVICE_PORT']).toBe('8444');
  const crd = find(moved, 'CustomResourceDefinition', 'bottlerocketshadows.brupop.bottlerocket.aws');
  expect(crd.spec.conversion.webhook.clientConfig.service).toMatchObject({ port: 8444, path: PUBLIC_PATHS.crdConvert });
});

test('every tunable arrives at its process', () => {
  const tuned = manifests({
    agent: { excludeFromLbWaitTimeInSec: 1, updateCheckIntervalInSec: 2 },
    apiserver: {
      drainTimeoutInSec: 3,
      drainPreflight: 'refuse',
      drainRefusalTimeoutInSec: 14,
      volumeDetachTimeoutInSec: 12,
      skipWaitForDeleteTimeoutInSec: 13,
      maxConcurrentEvictions: 4,
    },
    controller: {
      maxConcurrentUpdate: '5%',
      readAhead: 0,
      maxFailedUpdate: 6,
      maxUnhealthy: '15%',
      otherOperators: 'ignore',
      proofNodes: '5%',
      minReleaseAgeInSec: 14,
      maxVersion: '1.62.0',
      schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00' },
      monitoringTimeInSec: 7,
      settleTimeInSec: 16,
      settleFails: true,
      monitoringTimeoutInSec: 8,
      agentTimeoutInSec: 9,
      nodeReturnTimeoutInSec: 10,
      notReadyHoldInSec: 11,
      cacheTimeoutInSec: 120,
      checkFailedAfterInSec: 13,
    },
    logging: { format: 'json', ansi: true, filter: 'debug' },
  });
  expect(literalEnv(tuned, 'agent')).toMatchObject({
    EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '1',
    UPDATE_CHECK_INTERVAL_IN_SEC: '2',
    LOGGING_FORMATTER: 'json',
    LOGGING_ANSI_ENABLED: 'true',
    TRACING_FILTER_DIRECTIVE: 'debug',
  });
  expect(literalEnv(tuned, 'apiserver')).toMatchObject({
    DRAIN_TIMEOUT_IN_SEC: '3',
    DRAIN_PREFLIGHT: 'refuse',
    DRAIN_REFUSAL_TIMEOUT_IN_SEC: '14',
    VOLUME_DETACH_TIMEOUT_IN_SEC: '12',
    SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC: '13',
    MAX_CONCURRENT_EVICTIONS: '4',
  });
  const controller = literalEnv(tuned, 'controller');
  expect(controller).toMatchObject({
    MAX_CONCURRENT_UPDATE: '5%',
    READ_AHEAD: '0',
    MAX_FAILED_UPDATE: '6',
    MAX_UNHEALTHY: '15%',
    OTHER_OPERATORS: 'ignore',
    PROOF_NODES: '5%',
    MIN_RELEASE_AGE_IN_SEC: '14',
    MAX_VERSION: '1.62.0',
    UPDATE_WINDOW_START: '22:00:00',
    UPDATE_WINDOW_STOP: '04:00:00',
    MONITORING_TIME_IN_SEC: '7',
    SETTLE_TIME_IN_SEC: '16',
    SETTLE_FAILS: 'true',
    MONITORING_TIMEOUT_IN_SEC: '8',
    AGENT_TIMEOUT_IN_SEC: '9',
    NODE_RETURN_TIMEOUT_IN_SEC: '10',
    NOT_READY_HOLD_IN_SEC: '11',
    CACHE_TIMEOUT_IN_SEC: '120',
    CHECK_FAILED_AFTER_IN_SEC: '13',
    DRAIN_TIMEOUT_IN_SEC: '3',
  });
  // Cron would win over the window.
  expect(controller).not.toHaveProperty('SCHEDULER_CRON_EXPRESSION');
});

test('an agent is told the address of the apiserver’s Service, which it dials where the cluster DNS does not answer', () => {
  expect(podSpec(manifests(), 'agent').enableServiceLinks).toBe(true);
  expect(podSpec(manifests(), 'apiserver').enableServiceLinks).toBe(false);
  const kinds = manifests().map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  // Kubernetes tells a pod of the Services that are there before it.
  expect(kinds.indexOf('Service/brupop-apiserver')).toBeLessThan(kinds.indexOf('DaemonSet/brupop-agent'));
});
