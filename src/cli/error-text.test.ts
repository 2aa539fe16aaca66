import { expect, test } from 'vitest';
import { CliError, usage } from './cli-error.ts';
import { errorText } from './error-text.ts';

const briefly = { isVerbose: false, help: 'stowage up --help' };
const verbosely = { ...briefly, isVerbose: true };
const refused = new Error('connect ECONNREFUSED');
const ours = new CliError('cannot read; check that the server runs', 1, { cause: refused });

test('an error that was foreseen is told with its remedy, and nothing else', () => {
  expect(errorText(ours, briefly)).toBe('stowage: cannot read; check that the server runs\n');
});

test('a call that makes no sense is told with where to look', () => {
  expect(errorText(usage('--port: "x" is not a port'), briefly)).toBe(
    'stowage: --port: "x" is not a port; see stowage up --help\n',
  );
});

test('whoever asks for more gets the causes, and where they come from', () => {
  const [first, second, third] = errorText(ours, verbosely).split('\n');
  expect([first, second]).toEqual([
    'stowage: cannot read; check that the server runs',
    'caused by: Error: connect ECONNREFUSED',
  ]);
  expect(third).toMatch(/^\s+at .*error-text\.test\.ts/);
});

test('one that nobody foresaw is called so, and shows where it was thrown only when asked', () => {
  const bug = new TypeError('x is not a function');
  expect(errorText(bug, briefly)).toBe(
    'stowage: x is not a function\nThis should not happen; --verbose shows where it did.\n',
  );
  expect(errorText(bug, verbosely)).toMatch(/^stowage: x is not a function\n\s+at .*error-text\.test\.ts/);
});

test('what is no error is told as it is, and a circle of causes ends', () => {
  expect(errorText('just text', verbosely)).toBe('stowage: just text\n');
  const circle = new CliError('a');
  circle.cause = circle;
  expect(errorText(circle, verbosely).match(/caused by/g)).toHaveLength(8);
});
