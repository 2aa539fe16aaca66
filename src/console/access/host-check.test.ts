import { expect, test } from 'vitest';
import { isAllowedHost, isOwnOrigin } from './host-check.ts';

test.each<readonly [string | undefined, boolean]>([
  ['127.0.0.1:7443', true],
  ['10.1.2.3', true],
  ['[::1]:7443', true],
  ['localhost:7443', true],
  ['LOCALHOST', true],
  ['console.example', true],
  ['Console.Example:443', true],
  ['evil.example', false],
  ['console.example.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['[evil]:1', false],
  ['user@localhost', false],
  ['localhost:7443:1', false],
  ['', false],
  [undefined, false],
])('host %j: %s', (host, isAllowed) => {
  expect(isAllowedHost(host, ['console.example'])).toBe(isAllowed);
});

test('a POST must come from the page itself', () => {
  expect(isOwnOrigin('https://localhost:7443', 'localhost:7443')).toBe(true);
  for (const origin of [
    undefined,
    'null',
    'http://localhost:7443',
    'https://evil.example',
    'https://localhost',
  ])
    expect(isOwnOrigin(origin, 'localhost:7443'), origin).toBe(false);
});
