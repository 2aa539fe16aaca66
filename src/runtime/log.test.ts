import { describe, expect, test } from 'vitest';
import { type LogFormat, type LogLevel, lineLog, logLevels, silentLog } from './log.ts';

function lines(level: LogLevel, format: LogFormat) {
  const written: string[] = [];
  const clock = { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) };
  return { written, log: lineLog({ level, format, clock, write: (line) => written.push(line) }) };
}

describe('a line', () => {
  test('as JSON has time, level and message first, then its fields', () => {
    const { log, written } = lines('info', 'json');
    log.warn('volume refused', {
      pod: 'a/b',
      attempt: 2,
      error: new Error('no\nspace'),
      node: undefined,
      n: 5n,
    });
    expect(written).toEqual([
      '{"time":"2026-01-02T03:04:05.006Z","level":"warn","message":"volume refused","pod":"a/b","attempt":2,"error":"no\\nspace","n":"5"}\n',
    ]);
  });

  test.each(['text', 'json'] as const)('as %s has no control characters and no passwords', (format) => {
    const { log, written } = lines('info', format);
    log.warn('cannot reach https://bob:secret@host', { error: new Error('a\u001b[2Jb\u202ec') });
    for (const text of ['\u001b', '\u202e', 'secret']) expect(written.join('')).not.toContain(text);
    expect(written.join('')).toContain('https://***@host');
  });

  test('as JSON keeps time, level and message, whatever its fields are called', () => {
    const { log, written } = lines('info', 'json');
    log.info('real', { level: 'error', message: 'false' });
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ level: 'info', message: 'real' });
  });

  test('as text quotes values with spaces, and names its level unless it is info', () => {
    const { log, written } = lines('debug', 'text');
    log.info('listening', { url: 'https://a:1' });
    log.debug('decided', { message: '0/3 nodes', node: undefined, empty: '' });
    expect(written).toEqual([
      'stowage: listening url=https://a:1\n',
      'stowage: debug: decided message="0/3 nodes" empty=""\n',
    ]);
  });

  test('is one line, whatever it contains', () => {
    const { log, written } = lines('info', 'text');
    log.error('failed', { why: 'first\nsecond', error: new Error('no\n  space') });
    expect(written).toEqual(['stowage: error: failed: no space why="first\\nsecond"\n']);
  });
});

test.each(logLevels.map((level, at) => [level, logLevels.slice(at)] as const))(
  'the level %s writes %j',
  (level, expected) => {
    const { log, written } = lines(level, 'json');
    for (const one of logLevels) log[one]('x');
    expect(written.map((line) => JSON.parse(line).level)).toEqual(expected);
    expect(logLevels.filter((one) => log.writes(one))).toEqual(expected);
  },
);

test('the silent log would write nothing', () => {
  expect(logLevels.filter((level) => silentLog.writes(level))).toEqual([]);
});
