import { describe, expect, test } from '@jest/globals';
import { entry } from '../../runtime/image/entry.ts';
import { container, manifests, PROCESSES } from '../infra/manifests.ts';

const OPT = '/opt/brupop';

describe.each(PROCESSES)('IMAGE %s', (process) => {
  test('is what the manifest starts: the same flags of Node, the same file', () => {
    expect(entry([process], {}, OPT)).toMatchObject({
      kind: 'run',
      command: container(manifests(), process).command as unknown,
    });
  });

  test('hands on what follows, and the whole environment', () => {
    const asked = entry([process, '--help', 'x'], { HOME: '/', MALLOC_TOP_PAD_: '7' }, OPT);
    expect(asked).toMatchObject({ kind: 'run', env: { HOME: '/', MALLOC_TOP_PAD_: '7' } });
    expect(asked.kind === 'run' && asked.command.slice(-2)).toEqual(['--help', 'x']);
  });
});

test.each(['controller', 'apiserver'] as const)(
  'IMAGE %s has what its manifest tells glibc, which reads it before Node starts',
  (process) => {
    const variables = (container(manifests(), process).env as readonly { name: string; value?: string }[])
      .filter(({ name }) => name.startsWith('MALLOC_'))
      .map(({ name, value }) => [name, value]);
    expect(variables).not.toEqual([]);
    expect(entry([process], {}, OPT)).toMatchObject({ env: Object.fromEntries(variables) });
  },
);

test('IMAGE alone, or with the name of no program, says which there are and fails', () => {
  const programs = /controller[^]*agent[^]*apiserver[^]*kubectl-brupop/;
  expect(entry([], {}, OPT)).toMatchObject({ kind: 'err', exitCode: 2, text: expect.stringMatching(programs) });
  expect(entry(['toString'], {}, OPT)).toMatchObject({
    kind: 'err',
    exitCode: 2,
    text: expect.stringMatching(programs),
  });
  expect(entry(['--help'], {}, OPT)).toMatchObject({ kind: 'out', exitCode: 0, text: expect.stringMatching(programs) });
});
