import { describe, expect, test } from '@jest/globals';
import { FAULT_MEANINGS } from '../../sim/hosts/faults.ts';
import { helpText, parseOptions } from '../../sim/options.ts';

const KNOWN = ['boot', 'prepare'];

test('without arguments three nodes go from 1.38.0 to 1.39.0 one by one', () => {
  expect(parseOptions([], KNOWN)).toEqual({
    kind: 'run',
    options: {
      nodes: 3,
      hosts: ['bottlerocket'],
      concurrency: '1',
      from: '1.38.0',
      to: '1.39.0',
      speed: 10,
      faults: new Map(),
      keep: false,
      dashboard: false,
    },
  });
});

test('everything can be said', () => {
  const args =
    '--nodes 25 --host updog,bottlerocket --concurrency 20% --from 1.0.0 --to 1.1.0 --speed 2.5 --fail node-2=boot --fail node-25=prepare --keep';
  expect(parseOptions(args.split(' '), KNOWN)).toEqual({
    kind: 'run',
    options: {
      nodes: 25,
      hosts: ['updog', 'bottlerocket'],
      concurrency: '20%',
      from: '1.0.0',
      to: '1.1.0',
      speed: 2.5,
      faults: new Map([
        ['node-2', 'boot'],
        ['node-25', 'prepare'],
      ]),
      keep: true,
      dashboard: false,
    },
  });
});

test('a dashboard stays up', () => {
  expect(parseOptions(['--dashboard'], KNOWN)).toMatchObject({ options: { keep: true, dashboard: true } });
});

describe('faults name the option, what was expected and what came', () => {
  test.each([
    ['--nodes 0', '--nodes: expected a whole number from 1 to 200, got "0"'],
    ['--concurrency many', '--concurrency: expected a positive integer, a percentage or "unlimited", got "many"'],
    ['--host mac', '--host: expected some of bottlerocket, updog, k3os, separated by commas, got "mac"'],
    ['--to v1.39.0', '--to: expected a version such as 1.39.0, got "v1.39.0"'],
    ['--from 1.40.0', '--to: expected a version above 1.40.0, got "1.39.0"'],
    ['--speed fast', '--speed: expected a number from 0.1 to 1000, got "fast"'],
    ['--fail node-4=boot', '--fail: expected NODE=FAULT with a node from node-1 to node-3, got "node-4=boot"'],
    ['--fail node-1', '--fail: expected NODE=FAULT with a node from node-1 to node-3, got "node-1"'],
    ['--fail node-1=rain', '--fail: expected one of the faults boot, prepare, got "rain"'],
  ])('%s', (args, fault) => expect(parseOptions(args.split(' '), KNOWN)).toEqual({ kind: 'faults', faults: [fault] }));

  test('all together', () => {
    expect(parseOptions(['--nodes', 'x', '--speed', '0'], KNOWN)).toMatchObject({
      kind: 'faults',
      faults: { length: 2 },
    });
  });

  test('an unknown option is one', () => {
    expect(parseOptions(['--nodez', '3'], KNOWN)).toMatchObject({
      kind: 'faults',
      faults: [expect.stringContaining("'--nodez'")],
    });
  });
});

test.each(Object.entries(FAULT_MEANINGS))(
  '%s, a fault of hosts, can be asked for, and help tells what it is',
  (name, meaning) => {
    const parsed = parseOptions(['--fail', `node-1=${name}`], Object.keys(FAULT_MEANINGS));
    expect(parsed).toMatchObject({ kind: 'run', options: { faults: new Map([['node-1', name]]) } });
    expect(helpText(FAULT_MEANINGS)).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    expect(helpText(FAULT_MEANINGS)).toContain(meaning);
  },
);

test('help names every option and every fault', () => {
  const text = helpText({ boot: 'the new image does not boot' });
  for (const word of ['--nodes', '--concurrency', '--from', '--to', '--speed', '--fail', '--keep', '--help'])
    expect(text).toContain(word);
  expect(text).toContain('  boot  the new image does not boot\n');
  expect(parseOptions(['--help'], KNOWN)).toEqual({ kind: 'help' });
});
