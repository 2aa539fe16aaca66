import {
  isIpv4Mapped,
  isLinkLocalMulticastIp,
  isLinkLocalUnicastIp,
  isLoopbackIp,
  isUnspecifiedIp,
  parseSloppyIpAddress,
} from '../../../../kube/ip-address.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';

/** Refuses addresses that other hosts cannot reach. */
export function checkReachableIp(errors: FieldErrors, field: string, ip: string): void {
  const address = parseSloppyIpAddress(ip);
  if (address === undefined) {
    errors.invalid(field, ip, 'must be a valid IP address');
    return;
  }
  const bytes = isIpv4Mapped(address.bytes) ? address.bytes.slice(12) : address.bytes;
  if (isUnspecifiedIp(bytes)) errors.invalid(field, ip, `may not be unspecified (${ip})`);
  if (isLoopbackIp(bytes)) {
    errors.invalid(field, ip, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (isLinkLocalUnicastIp(bytes)) {
    errors.invalid(field, ip, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (isLinkLocalMulticastIp(bytes)) {
    errors.invalid(field, ip, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
}
