import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkOf } from '../../runtime/api/policy/checks.ts';
import { policySpec } from '../../runtime/api/policy/spec.ts';
import { askBy } from '../../runtime/controller/checks/ask.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { Stage } from './stage.ts';

const about = { family: 'aws-k8s-1.33/amd64', version: '1.1.0', policy: 'shop', nodes: ['a', 'b'] };
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** What is answered to the only check of a policy. */
async function answerTo(spec: object, more: Partial<Parameters<typeof askBy>[0]> = {}) {
  const stage = await Stage.with('a');
  ends.push(() => stage.end());
  const conditions = Object.entries({ Ready: 'True', PIDPressure: 'Unknown' });
  const status = { conditions: conditions.map(([type, is]) => ({ type, status: is })) };
  await stage.patch('/api/v1/nodes/a/status', { status });
  const { proof } = policySpec.parse({ nodeSelector: {}, proof: { checks: [{ name: 'one', ...spec }] } });
  const [check] = (proof?.checks ?? []).map(checkOf);
  const { transport } = stage;
  const ask = askBy({ transport, namespace: NAMESPACE, clock: systemClock, prometheusUrl: '', ...more });
  const answer = await ask({ id: 'x', check: check!, about, endsAt: Infinity }, new AbortController().signal);
  return answer && `${answer.kind}: ${answer.message}`;
}

async function prometheus(status: number, body: string): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      asked.push(`${request.method} ${request.url} ${new URLSearchParams(text).get('query')}`);
      response.writeHead(status).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, asked };
}

const vector = (...values: readonly string[]): string =>
  JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1, value] })) },
  });
const QUERY = { query: 'up{node=~"{{nodes}}",v="{{version}} {{arch}}"}', below: 5 };

describe('a query', () => {
  test.each([
    ['each value is within the bound', vector('1', '4.9'), 'passed: the query gives 1, 4.9'],
    ['one value is not', vector('1', '5'), 'failed: the query gives 5, expected below 5'],
    ['a value is infinite', vector('+Inf'), 'failed: the query gives Infinity, expected below 5'],
    ['a value is no number', vector('NaN'), 'unknown: the query gives a value that is no number'],
    ['there is no data', vector(), 'unknown: the query gives no data'],
    [
      'it is a scalar',
      JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, '2'] } }),
      'passed: the query gives 2',
    ],
    ['the answer is nonsense', '<html>', 'unknown: what Prometheus answers is no instant vector and no scalar'],
  ])('is answered where %s', async (_, body, answer) => {
    const { url, asked } = await prometheus(200, body);
    expect(await answerTo(QUERY, { prometheusUrl: url })).toBe(answer);
    expect(asked).toEqual(['POST /base/api/v1/query up{node=~"a|b",v="1.1.0 amd64"}']);
  });

  test('has no answer where Prometheus refuses it, is not there, or is nowhere', async () => {
    const { url } = await prometheus(400, JSON.stringify({ status: 'error', error: 'parse error' }));
    expect(await answerTo(QUERY, { prometheusUrl: url })).toBe('unknown: Prometheus answers 400: parse error');
    expect(await answerTo(QUERY, { prometheusUrl: 'http://127.0.0.1:1' })).toBe(
      'unknown: Prometheus gives no answer (ECONNREFUSED)',
    );
    expect(await answerTo(QUERY)).toBe('unknown: PROMETHEUS_URL is not set');
  });
});

describe('a condition', () => {
  const NODE = { apiVersion: 'v1', kind: 'Node', name: 'a', type: 'Ready' };

  test.each([
    ['it is so', NODE, 'passed: Node a: Ready is True'],
    ['it is otherwise', { ...NODE, status: 'False' }, 'failed: Node a: Ready is True: '],
    ['nobody knows', { ...NODE, type: 'PIDPressure' }, 'unknown: Node a: PIDPressure is Unknown'],
    ['the object has none', { ...NODE, type: 'DiskPressure' }, 'unknown: Node a has no condition DiskPressure'],
    ['the object is not there', { ...NODE, name: '{{arch}}' }, 'unknown: there is no Node amd64'],
    ['it names a namespace', { ...NODE, namespace: 'shop' }, 'unknown: a Node lives in no namespace'],
    ['the kind is not served', { ...NODE, kind: 'Nobody' }, 'unknown: the cluster knows no Nobody in v1'],
    ['the group is not served', { ...NODE, apiVersion: 'a.b/v1' }, 'unknown: the cluster knows no Node in a.b/v1'],
  ])('is answered where %s', async (_, condition, answer) => {
    expect(await answerTo({ condition })).toBe(answer);
  });
});
