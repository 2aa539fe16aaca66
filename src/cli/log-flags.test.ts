import { expect, test } from 'vitest';
import { logLevels } from '../runtime/log.ts';
import { logOf } from './log-flags.ts';

test.each([
  [{}, ['info', 'warn', 'error']],
  [{ logLevel: 'error' }, ['error']],
  [{ logLevel: 'error', verbose: true }, logLevels],
])('%j writes %j', (flags, expected) => {
  const log = logOf(flags);
  expect(logLevels.filter((level) => log.writes(level))).toEqual(expected);
});

test.each([
  [{ logLevel: 'loud' }, '--log-level: "loud" must be one of debug, info, warn, error'],
  [{ logFormat: 'xml' }, '--log-format: "xml" must be one of text, json'],
])('%j makes no sense', (flags, complaint) => {
  expect(() => logOf(flags)).toThrow(complaint);
});
