import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseInvocation } from '../../runtime/cli/arguments.ts';
import { MANUAL } from '../../runtime/cli/manual.ts';
import { OUTPUT_VERSION, textOf } from '../../runtime/cli/output/output.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, requestOn } from './deployed.ts';

/** What `--help` says of examples and of JSON, held against what commands take and give. */

test.each(COMMANDS.map(({ name }) => name))('%s has examples that it takes', (name) => {
  const { examples = [] } = MANUAL[name] ?? {};
  expect(examples.length).toBeGreaterThan(0);
  for (const line of examples) {
    const words = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    expect(parseInvocation(words, COMMANDS)).toMatchObject({ kind: 'run', command: { name } });
  }
});

describe('the fields of JSON are those that --help names', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.with('a', 'b');
    await deploy(stage);
  });
  afterEach(() => stage.end());

  /** Without those inside of others, which stand in parentheses. */
  const fieldsOf = (name: string): readonly string[] =>
    (MANUAL[name]?.fields ?? '').replaceAll(/ \([^)]*\)/g, '').match(/\b[a-zA-Z]+\??(?=[,;]|$)/g) ?? [];

  test.each([
    ['status', [], {}],
    ['wait', [], { for: 'idle', timeout: '0s' }],
    ['why', [], {}],
    ['why', ['a'], {}],
    ['timeline', ['a'], {}],
    ['history', [], {}],
    ['releases', [], {}],
    ['leftovers', [], {}],
    ['plan', [], {}],
    ['plan', [], { 'until-done': true }],
    ['doctor', [], {}],
    ['hold', ['a'], {}],
    ['pause', [], {}],
  ] as const)('%s %j %j', async (name, names, values) => {
    const command = COMMANDS.find((one) => one.name === name)!;
    const answer = await command.run({ ...requestOn(stage, names), values });
    const { apiVersion, ...value } = JSON.parse(textOf(answer, 'json', PLAIN)) as Record<string, unknown>;
    expect(apiVersion).toBe(OUTPUT_VERSION);
    const fields = fieldsOf(name);
    const mandatory = fields.filter((one) => !one.endsWith('?'));
    expect(Object.keys(value)).toEqual(expect.arrayContaining(mandatory));
    expect(fields.map((one) => one.replace('?', ''))).toEqual(expect.arrayContaining(Object.keys(value)));
  });
});
