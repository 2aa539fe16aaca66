import { isIPv6 } from 'node:net';

/** Leading zeros are let through, as Go once did; also an IPv6 address that ends in an IPv4 one is an address with dots. */
export function isIpv4(text: string): boolean {
  return text.includes('.') && (isLaxIpv4(text) || isLaxIpv6(text));
}

/** Without a zone. */
export function isIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!/^\d+$/.test(length)) return false;
  const lengthMax = isLaxIpv4(address) ? 32 : isLaxIpv6(address) ? 128 : -1;
  return Number(length) <= lengthMax;
}

/** Bytes in hexadecimal: 6, 8 or 20 of them, alone, in pairs with dots between, or each with the same sign after it. */
export function isMac(text: string): boolean {
  if (!lengths.has(text.replace(/[:.-]/g, '').length)) return false;
  return (
    /^[0-9a-f]{2}(:[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{2}(-[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{4}(\.[0-9a-f]{4})+$/i.test(text) ||
    /^[0-9a-f]+$/i.test(text)
  );
}

const lengths: ReadonlySet<number> = new Set([12, 16, 40]);

function isLaxIpv4(text: string): boolean {
  return /^0*\d{1,3}(\.0*\d{1,3}){3}$/.test(text) && text.split('.').every((octet) => Number(octet) <= 255);
}

function isLaxIpv6(text: string): boolean {
  const strict = text.replace(/(?<![0-9a-f])0+(?=[0-9a-f])/gi, '');
  return isIpv6(strict);
}
