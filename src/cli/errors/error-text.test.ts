import { expect, test } from 'vitest';
import { CliError, usage } from './cli-error.ts';
import { errorText } from './error-text.ts';

const briefly = { isVerbose: false, help: 'stowage up --help' };
const verbosely = { ...briefly, isVerbose: true };
const refused = new Error('connect ECONNREFUSED');
const ours = new CliError('cannot read; check that the server runs', 1, { cause: refused });

test('an expected error is reported with its remedy, and nothing else', () => {
  expect(errorText(ours, briefly)).toBe('stowage: cannot read; check that the server runs\n');
});

test('wrong usage is reported with the help to read', () => {
  expect(errorText(usage('--port: "x" is not a port'), briefly)).toBe(
    'stowage: --port: "x" is not a port; see stowage up --help\n',
  );
});

test('--verbose adds the causes and their stack traces', () => {
  const [first, second, third] = errorText(ours, verbosely).split('\n');
  expect([first, second]).toEqual([
    'stowage: cannot read; check that the server runs',
    'caused by: Error: connect ECONNREFUSED',
  ]);
  expect(third).toMatch(/^\s+at .*error-text\.test\.ts/);
});

test('an unexpected error is called a bug, and shows its stack trace only with --verbose', () => {
  const bug = new TypeError('x is not a function');
  expect(errorText(bug, briefly)).toBe(
    'stowage: x is not a function\nThis should not happen; --verbose shows where it did.\n',
  );
  expect(errorText(bug, verbosely)).toMatch(/^stowage: x is not a function\n\s+at .*error-text\.test\.ts/);
});

test('a value that is no Error is printed as it is, and a cycle of causes ends', () => {
  expect(errorText('just text', verbosely)).toBe('stowage: just text\n');
  const circle = new CliError('a');
  circle.cause = circle;
  expect(errorText(circle, verbosely).match(/caused by/g)).toHaveLength(8);
});

test('text of others neither controls the terminal nor reveals a password', () => {
  const error = new CliError('cannot read \u001b]0;title\u0007x\u202ey of https://bob:secret@host:6443/: no');
  expect(errorText(error, briefly)).toBe(
    'stowage: cannot read  ]0;title x y of https://***@host:6443/: no\n',
  );
});
