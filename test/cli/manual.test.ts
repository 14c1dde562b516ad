import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NOTIFICATIONS_STATE } from '../../runtime/api/notifications/names.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { parseInvocation } from '../../runtime/cli/arguments.ts';
import { MANUAL } from '../../runtime/cli/manual.ts';
import { OUTPUT_VERSION, textOf } from '../../runtime/cli/output/output.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { configMapsPath } from '../../runtime/kube/resources.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
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

/** A command, whom it names, its options. Of those that change something, all answer in the same way. */
const CASES = [
  ['status', [], {}],
  ['wait', [], { for: 'idle', timeout: '0s' }],
  ['why', [], {}],
  ['why', ['a'], {}],
  ['timeline', ['a'], {}],
  ['history', [], {}],
  ['logs', ['a'], {}],
  ['releases', [], {}],
  ['rollback', ['1.1.0'], { 'dry-run': true }],
  ['expedite', ['1.1.0'], { 'dry-run': true }],
  ['leftovers', [], {}],
  ['plan', [], {}],
  ['plan', [], { 'until-done': true }],
  ['report', [], {}],
  ['notify', ['test'], { 'dry-run': true }],
  ['doctor', [], {}],
  ['hold', ['a'], {}],
  ['pause', [], {}],
] as const;
test('the JSON of each command but the dashboard, which runs on, is held against what --help says of it', () => {
  const held = new Set<string>(CASES.map(([name]) => name));
  const isHeld = ({ name }: { name: string }) => held.has(name) || MANUAL[name]?.fields === MANUAL['hold']?.fields;
  expect(COMMANDS.filter((command) => !isHeld(command)).map(({ name }) => name)).toEqual(['dashboard']);
});

describe('the fields of JSON are those that --help names', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.with('a', 'b');
    await deploy(stage);
    await stage.create(configMapsPath(NAMESPACE), { metadata: { name: NOTIFICATIONS_STATE } });
  });
  afterEach(() => stage.end());

  /** Without those inside of others, which stand in parentheses. */
  const fieldsOf = (name: string): readonly string[] =>
    (MANUAL[name]?.fields ?? '').replaceAll(/ \([^)]*\)/g, '').match(/\b[a-zA-Z]+\??(?=[,;]|$)/g) ?? [];

  test.each(CASES)('%s %j %j', async (name, names, values) => {
    const command = COMMANDS.find((one) => one.name === name)!;
    const ownValues = name === 'report' ? { filename: join(folder, 'report.json') } : values;
    const answer = await command.run({ ...requestOn(stage, names), values: ownValues });
    const { apiVersion, ...value } = JSON.parse(textOf(answer, 'json', PLAIN)) as Record<string, unknown>;
    expect(apiVersion).toBe(OUTPUT_VERSION);
    const fields = fieldsOf(name);
    const mandatory = fields.filter((one) => !one.endsWith('?'));
    expect(Object.keys(value)).toEqual(expect.arrayContaining(mandatory));
    expect(fields.map((one) => one.replace('?', ''))).toEqual(expect.arrayContaining(Object.keys(value)));
  });
});
