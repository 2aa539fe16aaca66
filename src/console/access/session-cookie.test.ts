import { expect, test } from 'vitest';
import { cookieWith, isPlausibleToken, tokenIn } from './session-cookie.ts';

test('a token comes back from its cookie, whatever other cookies there are', () => {
  const token = 'eyJhbGciOi.J_b-c==';
  const [pair = ''] = cookieWith(token, '127.0.0.1:7443').split(';');
  expect(tokenIn(`theme=dark; ${pair}; other=1`, '127.0.0.1:7443')).toBe(token);
  expect(tokenIn('theme=dark', '127.0.0.1:7443')).toBeUndefined();
  expect(tokenIn(undefined, undefined)).toBeUndefined();
});

test('consoles on different ports of a host have cookies of their own, as browsers send all of them to each', () => {
  const hosts = ['127.0.0.1:7443', '127.0.0.1:7445', '127.0.0.1', '[::1]:7446'];
  const header = hosts.map((host, at) => cookieWith(`token-${at}`, host).split(';')[0]).join('; ');
  expect(hosts.map((host) => tokenIn(header, host))).toEqual(['token-0', 'token-1', 'token-2', 'token-3']);
});

test('a string that could end the cookie, or that browsers drop, is not a token', () => {
  for (const text of ['', 'a;b', 'a b', 'a\r\nSet-Cookie: b=c', 'a,b', 'x'.repeat(4_000)])
    expect(isPlausibleToken(text), text).toBe(false);
});
