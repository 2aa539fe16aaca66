import { expect, test } from 'vitest';
import { socketPathOf } from './csi-address.ts';

test.each([
  ['unix:///run/csi.sock', '/run/csi.sock'],
  ['/run/csi.sock', '/run/csi.sock'],
  ['unix:///a b/%20?#.sock', '/a b/%20?#.sock'],
])('%s is the socket %s', (address, path) => {
  expect(socketPathOf(address, '--csi-address')).toBe(path);
});

test.each([
  ['', 'names no socket'],
  ['unix://', 'names no socket'],
  ['/', 'names no socket'],
  ['unix:run/csi.sock', 'not absolute'],
  ['unix://run/csi.sock', 'not absolute'],
  ['csi.sock', 'not absolute'],
  ['tcp://127.0.0.1:1', 'only unix sockets'],
  ['dns:host:1', 'only unix sockets'],
  ['/a\0b', 'zero byte'],
  [`/${'é'.repeat(60)}`, 'has 121 bytes, and a socket'],
])('%j is rejected with the flag and the remedy', (address, problem) => {
  const rejected = () => socketPathOf(address, '--csi-address');
  expect(rejected).toThrow(problem);
  expect(rejected).toThrow(`--csi-address: invalid value ${JSON.stringify(address)}`);
});
