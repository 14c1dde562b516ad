import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../controller/stage.ts';
import { folder } from '../../folder.ts';
import { inTime, until } from '../../in-time.ts';
import { deploy } from '../deployed.ts';
import { brupop, PROGRAM, Reached } from '../served.ts';

/** `kubectl brupop dashboard` as a process, without a browser. */

let stage: Stage;
let reached: Reached;
beforeEach(async () => {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
  await deploy(stage);
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

const refuse = (): (() => void) =>
  stage.cluster.disturb(
    { resource: 'nodes', verbs: ['list'] },
    { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no nodes' },
  );

test('it says where the page is, for programs too, serves it and ends at Ctrl-C', async () => {
  const program = await reached.start('dashboard', '--no-open', '-o', 'json');
  await program.said('}');
  const { url } = JSON.parse(program.out) as { url: string };
  const { origin, hash } = new URL(url);
  expect(hash.length).toBeGreaterThan(40);
  expect(await (await fetch(url)).text()).toContain('<script type="module" src="/page.js">');
  const answers = await Promise.all(['/page.js', '/page.css', '/icon.svg'].map((path) => fetch(origin + path)));
  expect(answers.map(({ status, headers }) => [status, headers.get('content-type')])).toEqual([
    [200, 'text/javascript; charset=utf-8'],
    [200, 'text/css; charset=utf-8'],
    [200, 'image/svg+xml; charset=utf-8'],
  ]);
  program.child.kill('SIGINT');
  expect(await program.ended).toEqual([130, null]);
});

(process.platform === 'linux' ? test : test.skip)('the page is opened by what opens addresses here', async () => {
  const opener = join(folder, 'xdg-open');
  await writeFile(opener, `#!/bin/sh\necho "$1" > ${folder}/opened\n`);
  await chmod(opener, 0o755);
  const path = process.env['PATH'] ?? '';
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  const program = await reached.start('dashboard', '-o', 'json');
  process.env['PATH'] = path;
  await program.said('}');
  await until('the address, given to it', () => existsSync(join(folder, 'opened')));
  await until('all of it', () => readFileSync(join(folder, 'opened'), 'utf8').endsWith('\n'));
  const { origin, hash } = new URL((JSON.parse(program.out) as { url: string }).url);
  const opened = new URL(readFileSync(join(folder, 'opened'), 'utf8').trim());
  // Others can read the arguments of a program, so they have what is good for once.
  expect(opened.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}$/);
  const headers = { authorization: `Bearer ${opened.hash.replace('#ticket=', '')}` };
  expect(await (await fetch(`${origin}/api/token`, { headers })).text()).toBe(hash.replace('#token=', ''));
  program.child.kill('SIGINT');
  await program.ended;
});

test('while no page listens the cluster is asked nothing, and a page that comes is told what is new', async () => {
  const program = await reached.start('dashboard', '--no-open', '-o', 'json');
  await program.said('}');
  const { url } = JSON.parse(program.out) as { url: string };
  const { origin, hash } = new URL(url);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` };
  const { body } = await fetch(`${origin}/api/stream`, { headers });
  let text = '';
  const reading = (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => undefined);
  await until('the step after the one that was seen first', () => text.includes('"step":"draining"'));
  expect(text.indexOf('"step":"staging"')).toBeGreaterThan(0);
  program.child.kill('SIGINT');
  await program.ended;
  await inTime('the end of the stream', reading);
});

test('a cluster that cannot be looked at, a port that is taken, and one that is none end it at once', async () => {
  const end = refuse();
  expect(await reached.run('dashboard', '--no-open')).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^you may not do that \(403\): no nodes\n/),
  });
  end();
  const program = await reached.start('dashboard', '--no-open', '-o', 'json');
  await program.said('}');
  const { port } = new URL((JSON.parse(program.out) as { url: string }).url);
  // The bundle alone has the page.
  const command = [process.execPath, PROGRAM];
  const env = { KUBECONFIG: await reached.kubeconfig() };
  expect(await brupop(['dashboard', '--no-open', '--port', port], { command, env })).toMatchObject({
    code: 1,
    err: expect.stringContaining(`address already in use 127.0.0.1:${port}`),
  });
  program.child.kill('SIGTERM');
  expect(await program.ended).toEqual([143, null]);
  expect(await brupop(['dashboard', '--port', 'http'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--port: expected a number from 0 to 65535, got http'),
  });
});
