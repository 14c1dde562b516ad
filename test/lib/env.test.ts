import { expect, test } from '@jest/globals';
import {
  atLeastSeconds,
  bool,
  describeEnv,
  EnvError,
  oneOf,
  optionalText,
  port,
  positiveInteger,
  readEnv,
  seconds,
  text,
} from '../../runtime/lib/env.ts';

const schema = {
  NAME: text({ help: 'a name' }),
  WAIT_IN_SEC: seconds({ help: 'a wait', default: '0' }),
  PORT: port({ help: 'a port', default: '8080' }),
  COUNT: positiveInteger({ help: 'a count', default: '5' }),
  SHAPE: oneOf(['round', 'square'], { help: 'a shape', default: 'round' }),
  ON: bool({ help: 'a switch', default: 'false' }),
};

test('values come typed, absent and empty ones by default', () => {
  expect(readEnv(schema, { NAME: 'x', WAIT_IN_SEC: '', COUNT: '7', ON: 'True' })).toEqual({
    NAME: 'x',
    WAIT_MS: 0,
    PORT: 8080,
    COUNT: 7,
    SHAPE: 'round',
    ON: true,
  });
});

test('a duration is in milliseconds from there on, and its name says so', () => {
  const durations = { WAIT_IN_SEC: schema.WAIT_IN_SEC, LONG_IN_SEC: atLeastSeconds(15, { help: 'a long wait' }) };
  expect(readEnv(durations, { WAIT_IN_SEC: '90', LONG_IN_SEC: '15' })).toEqual({ WAIT_MS: 90_000, LONG_MS: 15_000 });
  expect(() => readEnv(durations, { LONG_IN_SEC: '14' })).toThrow('expected a whole number of seconds, 15 or more');
});

test('every fault is reported together, with what was expected and what came', () => {
  const read = (): unknown =>
    readEnv(schema, { WAIT_IN_SEC: '-1', PORT: '70000', COUNT: '0', SHAPE: 'flat', ON: 'yes' });
  expect(read).toThrow(EnvError);
  expect(read).toThrow(
    [
      'The environment has 6 fault(s):',
      '  NAME: expected some text, got nothing (it has no default)',
      '  WAIT_IN_SEC: expected a whole number of seconds, 0 or more, got "-1"',
      '  PORT: expected a port number from 0 to 65535, got "70000"',
      '  COUNT: expected a positive integer, got "0"',
      '  SHAPE: expected one of round, square, got "flat"',
      '  ON: expected true or false, got "yes"',
    ].join('\n'),
  );
});

test('help says of each variable what it means, what is expected, in which unit, and what it is by default', () => {
  const optional = { NICKNAME: optionalText({ help: 'a nickname' }) };
  expect(describeEnv({ NAME: schema.NAME, WAIT_IN_SEC: schema.WAIT_IN_SEC, ...optional })).toBe(
    [
      '  NAME',
      '      a name',
      '      some text; required',
      '  WAIT_IN_SEC',
      '      a wait',
      '      a whole number of seconds, 0 or more; default 0',
      '  NICKNAME',
      '      a nickname',
      '      some text; none by default',
    ].join('\n'),
  );
});
