import { describe, expect, test } from '@jest/globals';
import { createLogger, type Level, logEnv, type LogFormat } from '../../runtime/lib/log.ts';
import { joinParts } from '../../runtime/lib/parts.ts';

function lines(format: LogFormat, level: Level = 'info', ansi = false) {
  const written: string[] = [];
  const clock = { now: () => Date.parse('2026-01-02T03:04:05.006Z') };
  return { written, log: createLogger({ format, ansi, level, clock, write: (line) => written.push(line) }) };
}

describe('a line', () => {
  test.each<[LogFormat, string]>([
    ['full', '2026-01-02T03:04:05.006Z  INFO drain finished node=n1 evicted=3 why="a b"\n'],
    ['compact', ' INFO drain finished node=n1 evicted=3 why="a b"\n'],
    ['pretty', '  2026-01-02T03:04:05.006Z  INFO drain finished\n    node: n1\n    evicted: 3\n    why: "a b"\n'],
    [
      'json',
      '{"timestamp":"2026-01-02T03:04:05.006Z","level":"info","message":"drain finished","node":"n1","evicted":3,"why":"a b"}\n',
    ],
  ])('in %s', (format, expected) => {
    const { written, log } = lines(format);
    log.with({ node: 'n1' }).info('drain finished', { evicted: 3, why: 'a b' });
    expect(written).toEqual([expected]);
  });

  test('is coloured when asked', () => {
    const { written, log } = lines('compact', 'info', true);
    log.error('no');
    expect(written).toEqual(['\u001B[31mERROR\u001B[0m no\n']);
  });

  test('keeps its own message, level and time, whatever its fields are called', () => {
    const { written, log } = lines('json');
    log.warn('the attempt has failed', { message: 'no space left', level: 3, timestamp: 'yesterday' });
    expect(JSON.parse(written[0]!)).toEqual({
      timestamp: '2026-01-02T03:04:05.006Z',
      level: 'warn',
      message: 'the attempt has failed',
      'fields.message': 'no space left',
      'fields.level': 3,
      'fields.timestamp': 'yesterday',
    });
  });

  test('shows errors with their causes and without a stack', () => {
    const { written, log } = lines('json');
    log.warn('failed', { error: new TypeError('outer', { cause: new Error('inner') }) });
    expect(JSON.parse(written[0]!)).toMatchObject({ error: 'TypeError: outer: Error: inner' });
  });
});

test('a text of more parts than a line has room for says how many it leaves out', () => {
  const { written, log } = lines('compact');
  log.info('refused', {
    error: joinParts(Array.from({ length: 400 }, (_, index) => `shop/web-${index} (not evicted yet)`)),
  });
  expect(written[0]!.length).toBeLessThan(16 * 1024);
  expect(written[0]).toMatch(/shop\/web-0 \(not.*; and \d+ more"\n$/);
});

test('lines below the level are not written', () => {
  const { written, log } = lines('compact', 'warn');
  log.debug('d');
  log.info('i');
  log.warn('w');
  expect(written).toEqual([' WARN w\n']);
});

describe('the filter directive', () => {
  test.each<[string, Level | undefined]>([
    ['info', 'info'],
    ['DEBUG', 'debug'],
    ['agent=trace,warn', 'warn'],
    ['agent=debug,controller=warn', 'debug'],
    ['loud', undefined],
    ['agent=loud', undefined],
  ])('%s', (directive, level) => expect(logEnv.TRACING_FILTER_DIRECTIVE.parse(directive)).toBe(level));
});
