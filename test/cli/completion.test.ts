import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { completionOf, completionText } from '../../runtime/cli/completion.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';

const names = {
  nodes: ['node-1', 'node-2', 'other'],
  policies: ['prod', 'test'],
  releases: ['1.1.0.x.y'],
  contexts: ['here', 'there'],
};

const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { candidates } = await completionOf(words, COMMANDS, async (what) => names[what]);
  return candidates.map(([word]) => word);
};

describe('a shell is offered', () => {
  test.each<[readonly string[], readonly string[]]>([
    [['st'], ['status']],
    [['-n', 'elsewhere', 'lef'], ['leftovers']],
    [
      ['hold', 'node-'],
      ['node-1', 'node-2'],
    ],
    [['hold', 'node-1', 'o'], ['other']],
    [
      ['pause', ''],
      ['prod', 'test'],
    ],
    [['halt', ''], ['1.1.0.x.y']],
    [['rollback', '1.1.0', '--policy', 'p'], ['prod']],
    [['expedite', '1.1.0', '--policy', 'p'], ['prod']],
    [['clear', '1'], ['1.1.0.x.y']],
    [['clear', '1.1.0', 'o'], ['other']],
    [['leftovers', ''], []],
    [['status', '-o', 'j'], ['json']],
    [['status', '--w'], ['--watch']],
    [['plan', '--un'], ['--until-done']],
    [['--context', 'h'], ['here']],
    [['wait', '--policy', 'p'], ['prod']],
  ])('after %j: %j', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  test('names of files where one is asked for, and nowhere else', async () => {
    const last = async (...words: readonly string[]) => {
      const text = completionText(await completionOf(words, COMMANDS, async () => []));
      return text.trim().split('\n').at(-1);
    };
    expect(await last('plan', '-f', '')).toBe(':0');
    expect(await last('--kubeconfig', '')).toBe(':0');
    expect(await last('hold', '')).toBe(':4');
  });
});

test('kubectl finds it beside the program, and a cluster that does not answer is no error', () => {
  const program = fileURLToPath(new URL('../../build/kubectl_complete-brupop.mjs', import.meta.url));
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', env: { KUBECONFIG: '/nowhere' } });
  expect(run('doc')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^doctor\t.*\n:4\n$/) });
  expect(run('hold', '')).toMatchObject({ status: 0, stderr: '', stdout: ':4\n' });
});
