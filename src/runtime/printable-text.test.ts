import { expect, test } from 'vitest';
import { escapedJson, printableLines, printableText, withoutPasswords } from './printable-text.ts';

test('what a terminal would obey becomes a space', () => {
  expect(printableText('a\u001b[2Jb\u009bc\rd\u202ee\u2066f\u200fg')).toBe('a [2Jb c d e f g');
  expect(printableText('é, ü, 漢字 and 🙂 stay')).toBe('é, ü, 漢字 and 🙂 stay');
});

test('lines stay lines', () => {
  expect(printableLines('one\ntwo\u0007')).toBe('one\ntwo ');
});

test('JSON says the same with escapes', () => {
  const value = { name: 'a\u202eb\u009bc' };
  const text = escapedJson(JSON.stringify(value, undefined, 2));
  expect(text).toBe('{\n  "name": "a\\u202eb\\u009bc"\n}');
  expect(JSON.parse(text)).toEqual(value);
});

test.each([
  [
    'cannot reach https://bob:se:c@ret@host:6443/api: refused',
    'cannot reach https://***@host:6443/api: refused',
  ],
  ['the proxy socks5://token@proxy', 'the proxy socks5://***@proxy'],
  ['https://host/path@1 and bob@example.com', 'https://host/path@1 and bob@example.com'],
])('the user of a URL is not shown: %s', (text, expected) => {
  expect(withoutPasswords(text)).toBe(expected);
});

test('a long text without a password is read once', () => {
  // A pattern that begins again at every dot needs more than ten seconds.
  const text = 'a.'.repeat(200_000);
  expect(withoutPasswords(text)).toBe(text);
});
