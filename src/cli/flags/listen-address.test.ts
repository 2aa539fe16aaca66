import { describe, expect, test } from 'vitest';
import { parseListenAddress } from './listen-address.ts';

describe('an address to listen on', () => {
  test.each([
    ['127.0.0.1:8900', { host: '127.0.0.1', port: 8900 }],
    ['[::1]:8900', { host: '::1', port: 8900 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['0.0.0.0:8900', { host: '0.0.0.0', port: 8900 }],
    // Left to the system: it takes those of IPv6 too, where there are any.
    [':8900', { host: undefined, port: 8900 }],
    ['', undefined],
    ['8900', undefined],
    ['here', undefined],
    ['a:b', undefined],
    ['::1:8900', undefined],
    ['[]:8900', undefined],
    [':65536', undefined],
    [':-1', undefined],
  ])('%j', (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected);
  });
});
