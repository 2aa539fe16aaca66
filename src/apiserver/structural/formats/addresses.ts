import { parseSloppyCidr, parseSloppyIpAddress } from '../../../kube/ip-address.ts';

/** Accepts leading zeros, as Go once did; an IPv6 address that ends in an IPv4 address also passes, because it has dots. */
export function isIpv4Format(text: string): boolean {
  return text.includes('.') && parseSloppyIpAddress(text) !== undefined;
}

export function isCidrFormat(text: string): boolean {
  return parseSloppyCidr(text) !== undefined;
}

/** 6, 8 or 20 hexadecimal bytes: unseparated, in pairs separated by dots, or single ones separated by `:` or `-`. */
export function isMacFormat(text: string): boolean {
  if (!hexDigitCounts.has(text.replace(/[:.-]/g, '').length)) return false;
  return (
    /^[0-9a-f]{2}(:[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{2}(-[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{4}(\.[0-9a-f]{4})+$/i.test(text) ||
    /^[0-9a-f]+$/i.test(text)
  );
}

const hexDigitCounts: ReadonlySet<number> = new Set([12, 16, 40]);
