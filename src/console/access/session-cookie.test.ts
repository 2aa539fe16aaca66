import { expect, test } from 'vitest';
import { cookieWith, isPlausibleToken, tokenIn } from './session-cookie.ts';

test('a token comes back from its cookie, whatever other cookies there are', () => {
  const token = 'eyJhbGciOi.J_b-c==';
  const [pair = ''] = cookieWith(token).split(';');
  expect(tokenIn(`theme=dark; ${pair}; other=1`)).toBe(token);
  expect(tokenIn('theme=dark')).toBeUndefined();
  expect(tokenIn(undefined)).toBeUndefined();
});

test('what would break out of the cookie, or be dropped by browsers, is no token', () => {
  for (const text of ['', 'a;b', 'a b', 'a\r\nSet-Cookie: b=c', 'a,b', 'x'.repeat(4_000)])
    expect(isPlausibleToken(text), text).toBe(false);
});
