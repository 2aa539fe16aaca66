import { expect, test } from 'vitest';
import { parseUrl, queryOf, requestUriProblem } from './url.ts';

test.each([
  ['http://example.com:80/a%20b?q=1', undefined],
  ['/path', undefined],
  ['http://[fe80::1%25eth0]/', undefined],
  ['path', 'parse "path": invalid URI for request'],
  ['http://a:x/', 'parse "http://a:x/": invalid port ":x" after host'],
  ['http://%25%41/', 'parse "http://%25%41/": invalid URL escape "%41"'],
  ['http://[::1%25%41%01]/', 'parse "http://[::1%25%41%01]/": invalid URL escape "%01"'],
  ['http://[::1', 'parse "http://[::1": missing \']\' in host'],
])('%s is a request URI, or has the error of Go', (text, problem) => {
  expect(requestUriProblem(text)).toBe(problem);
});

test('the parts of a URL are unescaped as in Go', () => {
  expect(parseUrl('HTTP://[fe80::1%25eth0]:80/a b?q=1#fragment', false)).toEqual({
    scheme: 'http',
    host: '[fe80::1%eth0]:80',
    escapedPath: '/a%20b',
    query: 'q=1',
  });
  expect(queryOf('a=1&a=2&b=%zz&c')).toEqual(
    new Map([
      ['a', ['1', '2']],
      ['c', ['']],
    ]),
  );
});
