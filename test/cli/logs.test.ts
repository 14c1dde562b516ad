import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandRequest } from '../../runtime/cli/command.ts';
import { logs } from '../../runtime/cli/commands/logs.ts';
import { report } from '../../runtime/cli/commands/report.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { deployContainer, requestOn } from './deployed.ts';

/** What pods of ours have written. The embedded cluster runs no containers, so their logs are given. */

const TOKEN = 'eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl';
const WRITTEN: Readonly<Record<string, string>> = {
  'agent-a': '2026-01-01T00:00:01.000000000Z  INFO staged\n2026-01-01T00:00:03.000000000Z  INFO rebooting\n',
  'agent-b': '2026-01-01T00:00:02.000000000Z  INFO of another node\n',
  controller: `2026-01-01T00:00:02.500000000Z  INFO permitted node=a token=${TOKEN}\n2026-01-01T00:00:02.600000000Z  INFO permitted node=a-1\n`,
  'apiserver before': '2026-01-01T00:00:00.500000000Z  WARN refused shadow=brs-a\n',
};

let stage: Stage;
let asked: { path: string; query: unknown }[];
let away: string | undefined;

beforeEach(async () => {
  [asked, away] = [[], undefined];
  stage = await Stage.with('a', 'b');
  const variables = [
    { name: 'MAX_CONCURRENT_UPDATE', value: '2' },
    { name: 'EXTRA', value: 'hunter2' },
    { name: 'HTTPS_PROXY', value: 'http://ann:hunter2@proxy:1' },
  ];
  await deployContainer(stage, { name: 'brupop', image: 'x', env: variables });
  for (const [name, component] of [
    ['controller', 'brupop-controller'],
    ['apiserver', 'apiserver'],
  ] as const)
    await stage.create(`/api/v1/namespaces/${NAMESPACE}/pods`, {
      metadata: { name, labels: { 'brupop.bottlerocket.aws/component': component } },
      spec: { nodeName: 'b', containers: [{ name: 'brupop', image: 'x' }] },
    });
  const status = { containerStatuses: [{ name: 'brupop', restartCount: 1 }] };
  await stage.patch(`/api/v1/namespaces/${NAMESPACE}/pods/apiserver/status`, { status });
});
afterEach(() => stage.end());

function request(names: readonly string[], values: CommandRequest['values'] = {}): CommandRequest {
  const transport: KubeTransport = {
    watch: (one) => stage.transport.watch(one),
    request: async (one) => {
      const [, pod = ''] = /\/pods\/([^/]+)\/log$/.exec(one.path) ?? [];
      if (pod === '') return stage.transport.request(one);
      asked.push({ path: one.path, query: one.query });
      if (pod === away) throw apiStatusError('GET', { code: 502, message: 'the kubelet does not answer' });
      return WRITTEN[one.query?.['previous'] ? `${pod} before` : pod] ?? '';
    },
  };
  return { ...requestOn(stage, names, { transport }), values };
}

test('logs merges by time what the agent wrote and the lines of the others that name the node', async () => {
  const answer = await logs.run(request(['a'], { since: '10m' }));
  expect(answer.lines(PLAIN)).toEqual([
    '2026-01-01T00:00:00.500Z  apiserver    WARN refused shadow=brs-a',
    '2026-01-01T00:00:01.000Z  agent        INFO staged',
    `2026-01-01T00:00:02.500Z  controller   INFO permitted node=a token=${TOKEN}`,
    '2026-01-01T00:00:03.000Z  agent        INFO rebooting',
  ]);
  expect(answer.value).toMatchObject({ node: 'a', notKnown: [], lines: [{ component: 'apiserver' }, {}, {}, {}] });
  expect(asked[0]?.query).toMatchObject({ timestamps: 'true', sinceSeconds: '600', container: 'agent' });
});

test('a log that cannot be read is named, and the others are shown', async () => {
  away = 'agent-a';
  const answer = await logs.run(request(['a']));
  expect(answer.lines(PLAIN)[0]).toBe('not known: the log of agent-a: the kubelet does not answer');
  expect(answer.value).toMatchObject({ lines: [{ pod: 'apiserver' }, { pod: 'controller' }] });
  await expect(logs.run(request(['nobody']))).rejects.toThrow('there is no agent on nobody');
  await expect(logs.run(request(['a(']))).rejects.toThrow('there is no agent on a(');
});

test('report writes one file, says what is in it, and leaves secrets out', async () => {
  const filename = join(folder, 'report.json');
  const answer = await report.run(request([], { filename }));
  const text = await readFile(filename, 'utf8');
  expect((await stat(filename)).mode & 0o777).toBe(0o600);
  const parts = { commands: { status: { counts: { nodes: 2 } }, doctor: {} }, objects: { shadows: [{}, {}] } };
  expect(JSON.parse(text)).toMatchObject({ apiVersion: 'cli.brupop.bottlerocket.aws/v1', ...parts });
  expect(text).toContain('permitted node=a token=(left out)');
  expect(text).toContain('"MAX_CONCURRENT_UPDATE"');
  for (const secret of ['hunter2', TOKEN, 'managedFields']) expect(text).not.toContain(secret);
  expect(answer.lines(PLAIN)[0]).toMatch(
    /report\.json \(\d+ KB\) has what status, why, .* say; nodes, shadows, .*; logs/,
  );
  await expect(report.run(request([], { filename }))).rejects.toThrow('is there already');
});
