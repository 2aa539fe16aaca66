import { describe, expect, test } from 'vitest';
import { healthResponse } from './health-pages.ts';

describe('/readyz', () => {
  const readyz = (path: string, problem?: string) => {
    const { pathname, searchParams: query } = new URL(path, 'https://a');
    const rest = pathname.replace(/^\/readyz\/?/, '');
    const { status, body } = healthResponse({ query }, 'readyz', rest, { caches: () => problem });
    return `${status} ${Buffer.concat(body)}`;
  };

  test.each([
    ['/readyz', undefined, '200 ok'],
    ['/readyz?verbose', undefined, '200 [+]ping ok\n[+]caches ok\nreadyz check passed\n'],
    ['/readyz', 'pods', '500 [+]ping ok\n[-]caches failed: reason withheld\nreadyz check failed\n'],
    ['/readyz?exclude=caches', 'pods', '200 ok'],
    ['/readyz/ping', 'pods', '200 ok'],
    ['/readyz/caches', 'pods', '500 internal server error: check failed\n'],
    ['/readyz/nope', undefined, '404 404 page not found\n'],
  ])('%s with the problem %s is %j', (path, problem, expected) => {
    expect(readyz(path, problem)).toBe(expected);
  });
});
