import { expect, test } from 'vitest';
import {
  formatIpAddress,
  ipFamilyOf,
  isIpv6,
  parseCidr,
  parseIpAddress,
  parseSloppyCidr,
  parseSloppyIpAddress,
} from './ip-address.ts';

test.each([
  ['10.9.8.7', '10.9.8.7'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:10.0.0.1', '::ffff:a00:1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
])('%s is formatted as %s', (text, canonical) => {
  const address = parseIpAddress(text);
  expect(typeof address === 'string' ? address : formatIpAddress(address)).toBe(canonical);
});

test.each([
  ['10.0.0.01', 'ParseAddr("10.0.0.01"): IPv4 field has octet with leading zero'],
  ['10.0.0', 'ParseAddr("10.0.0"): IPv4 address too short'],
  ['1:2:3:4:5:6:7::8', 'ParseAddr("1:2:3:4:5:6:7::8"): the :: must expand to at least one field of zeros'],
  ['localhost', 'ParseAddr("localhost"): unable to parse IP'],
])('%s is refused with the message of Go', (text, message) => {
  expect(parseIpAddress(text)).toBe(message);
});

test('sloppy notation allows leading zeros and no zone', () => {
  expect(parseSloppyIpAddress('010.000.0.1')?.bytes).toEqual([10, 0, 0, 1]);
  expect(parseSloppyIpAddress('00001::')?.bytes[1]).toBe(1);
  expect(parseSloppyIpAddress('fe80::1%eth0')).toBeUndefined();
  expect(isIpv6('00001::')).toBe(false);
});

test('an IPv4-mapped address belongs to the IPv4 family', () => {
  expect(['10.0.0.1', '::ffff:10.0.0.1', '::1', 'x'].map(ipFamilyOf)).toEqual([4, 4, 6, undefined]);
});

test('a network is an address and a prefix length within its bits', () => {
  expect(parseSloppyCidr('10.0.0.0/08')?.prefixLength).toBe(8);
  expect(parseSloppyCidr('10.0.0.0/33')).toBeUndefined();
  expect(parseCidr('10.0.0.0/08')).toBe('bad bits after slash: "08"');
  expect(parseCidr('fe80::1%eth0/64')).toBe('IPv6 zones cannot be present in a prefix');
});
