import { describe, expect, test } from 'vitest';
import { compiledPattern } from './bounded-pattern.ts';

const steps = 'takes more than 200000000 steps';
const instructions = 'needs more than 100000 instructions';

/** Without limits, each of these takes more than ten seconds. */
describe('a pattern is refused', () => {
  test('on a text that takes too many steps', () => {
    const text = 'ab'.repeat(500_000);
    for (const pattern of ['((a{0,10}){0,10}){0,10}$', '(.{0,30}){0,30}x'])
      expect(() => compiledPattern(pattern).test(text)).toThrow(steps);
  });

  test('if its searches read the rest of the text again and again', () => {
    expect(() => compiledPattern('a(.*b)?').findAll('a'.repeat(1_000_000), Number.MAX_VALUE)).toThrow(steps);
  });

  test.each([
    ['repetitions', 'a{1000}'.repeat(20_000)],
    ['nested repetitions', '((a{10}){10}){10}'.repeat(10_000)],
    ['repetitions of a set', '[^\\]a-z[:alpha:]]{500,}'.repeat(5_000)],
    ['a long quote', `\\Q${'{'.repeat(200_000)}\\E`],
  ])('before it is compiled, because of %s', (_what, pattern) => {
    expect(() => compiledPattern(pattern)).toThrow(instructions);
  });

  test.each(['(a', '[a', 'a{1001}', 'a**'])('if it is not valid: %s', (pattern) => {
    expect(() => compiledPattern(pattern).test('a')).toThrow(
      /^error parsing regexp|^missing|^invalid|^unexpected/,
    );
  });
});

describe('a pattern is accepted', () => {
  test.each([
    ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 'a-b', 'a-'],
    ['^.{0,253}$', 'a', 'a'.repeat(254)],
    ['^\\{[[:digit:]]{2,}\\}$', '{12}', '{1}'],
    ['^\\Qa{9999}\\E$', 'a{9999}', 'a'],
  ])('%s', (pattern, matching, other) => {
    const compiled = compiledPattern(pattern);
    expect([compiled.test(matching), compiled.test(other)]).toEqual([true, false]);
  });

  test('on a long text, and finds all matches in a short one', () => {
    expect(compiledPattern('^[a-z]+$').test('a'.repeat(1_000_000))).toBe(true);
    expect(compiledPattern('[0-9]+').findAll('1a22b333', 2)).toEqual(['1', '22']);
    expect(compiledPattern('x*').findAll('axb', 9)).toEqual(['', 'x', '']);
    expect(compiledPattern('').findAll('ab', 9)).toEqual(['', '', '']);
  });
});

test('the cache drops the oldest patterns by the size of their programs', () => {
  const first = compiledPattern('first');
  expect(compiledPattern('first')).toBe(first);
  for (let at = 0; at < 250; at += 1) compiledPattern(`a{1000}${at}`);
  expect(compiledPattern('first')).not.toBe(first);
});

test('the cache drops the oldest patterns by the memory of their matches', () => {
  const first = compiledPattern('first');
  let seed = 1;
  const text = Array.from({ length: 8_000 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 2 === 0 ? 'a' : 'b';
  }).join('');
  // Each of these patterns has a state for every sequence of the last forty characters.
  for (let at = 0; at < 14; at += 1) compiledPattern(`(a|b)*a(a|b){40}[c${at}]`).test(text);
  expect(compiledPattern('first')).not.toBe(first);
});
