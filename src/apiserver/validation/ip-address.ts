import {
  isIpv4Mapped,
  maskIpBytes,
  parseCidr,
  parseIpAddress,
  parseSloppyCidr,
  parseSloppyIpAddress,
} from '../../kube/ip-address.ts';
import type { FieldErrors } from './field-errors.ts';

/**
 * Checks a field that once accepted sloppy addresses and now accepts only strict ones. `old` lists the values that the
 * object already has: these stay valid.
 */
export function checkIp(errors: FieldErrors, field: string, ip: string, old: readonly string[] = []): void {
  if (old.includes(ip)) return;
  const strict = parseIpAddress(ip);
  if (parseSloppyIpAddress(ip) === undefined) {
    errors.invalid(field, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  } else if (typeof strict === 'string') errors.invalid(field, ip, 'must not have leading 0s');
  else if (isIpv4Mapped(strict.bytes)) {
    errors.invalid(field, ip, 'must not be an IPv4-mapped IPv6 address');
  }
}

/** Whether this is a network in sloppy notation: numbers may have leading zeros. */
export function isCidr(cidr: string): boolean {
  return parseSloppyCidr(cidr) !== undefined;
}

export function checkCidr(errors: FieldErrors, field: string, cidr: string): void {
  const strict = parseCidr(cidr);
  if (!isCidr(cidr)) {
    errors.invalid(field, cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  } else if (typeof strict === 'string') {
    errors.invalid(field, cidr, 'must not have leading 0s in IP or prefix length');
  } else if (isIpv4Mapped(strict.address.bytes)) {
    errors.invalid(field, cidr, 'must not have an IPv4-mapped IPv6 address');
  } else if (hasBitsBeyond(strict.address.bytes, strict.prefixLength)) {
    errors.invalid(field, cidr, 'must not have bits set beyond the prefix length');
  }
}

function hasBitsBeyond(bytes: readonly number[], prefixLength: number): boolean {
  return maskIpBytes(bytes, prefixLength).some((byte, index) => byte !== bytes[index]);
}
