import { isIPv6 } from 'node:net';
import type { FieldErrors } from '../../validation/field-errors.ts';

export type IpFamily = 4 | 6;

/** Of an address, however it is written; undefined where it is none. */
export function ipFamilyOf(text: string): IpFamily | undefined {
  if (isLooseIpv4(text)) return 4;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return isMappedIpv4(text) ? 4 : 6;
}

/** Fields from before addresses had to be strict. `old`: those that may stay although they are not. */
export function checkIp(errors: FieldErrors, field: string, ip: string, old: readonly string[] = []): void {
  if (old.includes(ip)) return;
  if (ipFamilyOf(ip) === undefined) {
    errors.invalid(field, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  } else if (hasLeadingZero(ip)) errors.invalid(field, ip, 'must not have leading 0s');
  else if (ip.includes(':') && isMappedIpv4(ip)) {
    errors.invalid(field, ip, 'must not be an IPv4-mapped IPv6 address');
  }
}

/** However it is written. */
export function isCidr(cidr: string): boolean {
  const [ip = '', length = '', ...rest] = cidr.split('/');
  if (rest.length > 0 || ipFamilyOf(ip) === undefined || !/^\d{1,3}$/.test(length)) return false;
  return Number(length) <= (ip.includes(':') ? 128 : 32);
}

export function checkCidr(errors: FieldErrors, field: string, cidr: string): void {
  const [ip = '', length = ''] = cidr.split('/');
  const isV6 = ip.includes(':');
  if (!isCidr(cidr)) {
    errors.invalid(field, cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  } else if (hasLeadingZero(ip) || /^0\d/.test(length)) {
    errors.invalid(field, cidr, 'must not have leading 0s in IP or prefix length');
  } else if (isV6 && isMappedIpv4(ip)) {
    errors.invalid(field, cidr, 'must not have an IPv4-mapped IPv6 address');
  } else if (BigInt.asUintN((isV6 ? 128 : 32) - Number(length), numberOf(ip)) !== 0n) {
    errors.invalid(field, cidr, 'must not have bits set beyond the prefix length');
  }
}

function isLooseIpv4(text: string): boolean {
  return /^\d+(?:\.\d+){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255);
}

function hasLeadingZero(ip: string): boolean {
  return !ip.includes(':') && ip.split('.').some((part) => /^0\d/.test(part));
}

function isMappedIpv4(ip: string): boolean {
  return numberOf(ip) >> 32n === 0xffffn;
}

function numberOf(ip: string): bigint {
  if (!ip.includes(':')) return joined(ip.split('.').map(Number), 8n);
  const [head = '', tail] = ip.split('::').map(groupsOf);
  const before = head || [];
  const after = tail || [];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return joined([...before, ...Array<number>(zeros).fill(0), ...after], 16n);
}

/** Of half an IPv6 address, which may end in four numbers. */
function groupsOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}
