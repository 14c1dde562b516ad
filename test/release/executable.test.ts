import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { archiveOf, binOf, targetNamed } from '../../tools/release/executables.ts';
import { deploy } from '../cli/deployed.ts';
import { brupop, Reached } from '../cli/served.ts';
import { Stage } from '../controller/stage.ts';
import { shared } from '../folder.ts';

/** `kubectl brupop` with a Node of its own, out of its archive. No other Node is on its PATH. */

const TARGET = targetNamed('linux-x64');
const ARCHIVE = fileURLToPath(new URL(`../../build/executables/${archiveOf(TARGET)}`, import.meta.url));
const isHere = existsSync(ARCHIVE) && `${process.platform}-${process.arch}` === TARGET.name;
const why = isHere ? '' : ' (skipped: npm run release -- executables linux-x64 makes it)';

(isHere ? describe : describe.skip)(`the executable for linux-x64${why}`, () => {
  let program: string;
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    brupop(args, { command: [program], env: { PATH: '/nowhere', ...env } });

  beforeAll(() => {
    execFileSync('tar', ['-xzf', ARCHIVE, '-C', shared]);
    program = join(shared, binOf(TARGET));
  });

  test('is packed with both licences, and with nothing that krew does not unpack', () => {
    expect(
      readdirSync(shared, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    ).toEqual(expect.arrayContaining([binOf(TARGET), 'LICENSE', 'LICENSE.node', 'THIRD-PARTY-NOTICES.txt']));
    const kinds = execFileSync('tar', ['-tvzf', ARCHIVE], { encoding: 'utf8' }).trim().split('\n');
    expect(kinds.map((line) => line[0])).toEqual(['-', '-', '-', '-']);
  });

  test('says what it is, and what it can do', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: `kubectl-brupop ${VERSION}\n`, err: '' });
    const { out } = await run(['--help']);
    for (const { name } of COMMANDS) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect((await run(['nothing'])).code).toBe(2);
  });

  test('is no other program by what is set for Node', async () => {
    const env = { NODE_OPTIONS: '--require /nowhere/at/all.cjs' };
    expect(await run(['--version'], env)).toMatchObject({ code: 0, err: '' });
  });

  test('completes under its other name', async () => {
    const other = join(shared, 'kubectl_complete-brupop');
    symlinkSync(binOf(TARGET), other);
    const completed = await brupop(['doc'], { command: [other], env: { PATH: '/nowhere' } });
    expect(completed).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^doctor\t.*\n:4\n$/) });
  });

  test('says of a cluster what the program of npm says', async () => {
    const stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
    await deploy(stage);
    const reached = await Reached.of(stage.cluster);
    try {
      const env = { KUBECONFIG: await reached.kubeconfig() };
      const [own, npm] = [await run(['why', '-o', 'yaml'], env), await brupop(['why', '-o', 'yaml'], { env })];
      const timeless = (text: string): string => text.replace(/^at: .*$/m, '');
      expect(timeless(own.out)).toBe(timeless(npm.out));
      expect(await run(['status'], env)).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^fleet +0\/2/m),
      });
    } finally {
      await reached.close();
      await stage.end();
    }
  });
});
