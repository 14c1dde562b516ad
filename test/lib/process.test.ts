import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processEnv, readEnv, text } from '../../runtime/lib/env.ts';
import { logEnv } from '../../runtime/lib/log.ts';
import { type ProcessContext, type ProcessWorld, runProcess } from '../../runtime/lib/process.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';
import { ROOT } from '../documents.ts';

const { TERMINATION_LOG } = processEnv;
const env = { ...logEnv, TERMINATION_LOG, COLOUR: text({ help: 'any colour' }) };

interface Result {
  readonly exits: number[];
  readonly files: Record<string, string>;
  out: string;
  signal: (name: string) => void;
}

async function start(
  run: (context: ProcessContext) => Promise<string | void>,
  { args = [], ...source }: { args?: string[]; COLOUR?: string; TERMINATION_LOG?: string } = { COLOUR: 'red' },
): Promise<Result> {
  const result: Result = { exits: [], files: {}, out: '', signal: () => undefined };
  const print = (line: string): void => void (result.out += line);
  const world: ProcessWorld = {
    args,
    env: source,
    clock: new VirtualClock(),
    random: () => 0.5,
    out: print,
    err: print,
    writeFile: (path, content) => void (result.files[path] = content),
    onSignal: (listener) => (result.signal = listener),
    exit: (code) => void result.exits.push(code),
  };
  const spec = { name: 'painter', summary: 'Paints.', env, read: (from: typeof source) => readEnv(env, from) };
  void runProcess({ ...spec, run: (_, context) => run(context) }, world);
  await settle();
  return result;
}

const forever = ({ signal }: ProcessContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describe('a process', () => {
  test('explains itself with --help and --version, without reading its settings', async () => {
    const help = await start(forever, { args: ['--help'] });
    expect(help).toMatchObject({ exits: [0], out: expect.stringMatching(/Paints\.[^]*COLOUR\n +any colour/) });
    expect(await start(forever, { args: ['--version'] })).toMatchObject({ exits: [0], out: `painter ${VERSION}\n` });
    expect(await start(forever, { args: ['--hlep'] })).toMatchObject({ exits: [2] });
  });

  test('says every fault of its settings, in the termination log as well', async () => {
    const result = await start(forever, { TERMINATION_LOG: '/log' });
    expect(result.exits).toEqual([2]);
    expect(result.out).toContain('COLOUR: expected some text');
    expect(result.files['/log']).toContain('COLOUR: expected some text');
  });

  test('ends with 0 at the first signal, and at once at the second', async () => {
    const result = await start(forever);
    result.signal('SIGTERM');
    await settle();
    expect(result.exits).toEqual([0]);
    const stubborn = await start(() => new Promise(() => undefined));
    stubborn.signal('SIGTERM');
    await settle();
    expect(stubborn.exits).toEqual([]);
    stubborn.signal('SIGTERM');
    expect(stubborn.exits).toEqual([130]);
  });

  test('that ends by itself says why in the termination log', async () => {
    const result = await start(async () => 'the socket is dead', { COLOUR: 'red', TERMINATION_LOG: '/log' });
    expect(result).toMatchObject({ exits: [0], files: { '/log': 'the socket is dead\n' } });
  });

  test('that fails exits with 1, and its log says where it and its cause were thrown', async () => {
    const mixing = (): Error => new RangeError('no pigment');
    const failing = (): Promise<never> => Promise.reject(new TypeError('no paint', { cause: mixing() }));
    const result = await start(failing, { COLOUR: 'red', TERMINATION_LOG: '/log' });
    expect(result).toMatchObject({ exits: [1], files: { '/log': 'TypeError: no paint\n' } });
    expect(result.out).toMatch(
      /failed error=.*TypeError: no paint.*at failing .*process\.test.*caused by RangeError.*at mixing/,
    );
  });
});

test('a bundle that fails says by its sources where', () => {
  const surroundings = {
    PATH: process.env['PATH'],
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    SERVICE_ACCOUNT_DIR: '/nowhere',
  };
  const { status, stdout } = spawnSync('node', [join(ROOT, 'build/apiserver.mjs')], {
    env: surroundings,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stdout).toMatch(/failed error=.*cannot read \/nowhere\/namespace.*at .*runtime\/kube\/in-cluster\.ts:\d+\)/);
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(VERSION).toBe(version);
});
