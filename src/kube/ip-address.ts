import { goQuoted } from './go/quote.ts';

/** An IP address: four bytes or sixteen. */
export interface IpAddress {
  readonly bytes: readonly number[];
  /** The IPv6 zone, without its `%`; empty if there is none. */
  readonly zone: string;
}

export type IpFamily = 4 | 6;

export interface IpNetwork {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

/** Parses an address as Go's `netip.ParseAddr` does; otherwise returns that function's error message. */
export function parseIpAddress(text: string): IpAddress | string {
  const decisive = /[.:%]/.exec(text)?.[0];
  const fail = failing(text);
  if (decisive === '.') {
    const bytes = parseIpv4(text, fail);
    return typeof bytes === 'string' ? bytes : { bytes, zone: '' };
  }
  if (decisive === ':') return parseIpv6(text, fail);
  return fail(decisive === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

/**
 * Parses an address as Kubernetes' `netutils.ParseIPSloppy` does: numbers may have leading zeros, as Go once allowed, and
 * a zone is an error.
 */
export function parseSloppyIpAddress(text: string): IpAddress | undefined {
  if (text.includes('%')) return undefined;
  const address = parseIpAddress(text.replace(/(?<![0-9a-f])0+(?=[0-9a-f])/gi, ''));
  return typeof address === 'string' ? undefined : address;
}

/** Parses `ADDRESS/LENGTH` as Kubernetes' `netutils.ParseCIDRSloppy` does: numbers may have leading zeros. */
export function parseSloppyCidr(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : parseSloppyIpAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^\d+$/.test(length)) return undefined;
  const prefixLength = Number(length);
  return prefixLength > address.bytes.length * 8 ? undefined : { address, prefixLength };
}

/** Parses `ADDRESS/LENGTH` as Go's `netip.ParsePrefix` does; otherwise returns the reason that its error message gives. */
export function parseCidr(text: string): IpNetwork | string {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const address = parseIpAddress(text.slice(0, slash));
  if (typeof address === 'string') return address;
  if (address.zone !== '') return 'IPv6 zones cannot be present in a prefix';
  const length = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(length)) return `bad bits after slash: ${goQuoted(length)}`;
  const prefixLength = Number(length);
  return prefixLength > address.bytes.length * 8 ? 'prefix length out of range' : { address, prefixLength };
}

/** Whether this is an IPv6 address without a zone and without superfluous zeros. */
export function isIpv6(text: string): boolean {
  if (!text.includes(':')) return false;
  const address = parseIpAddress(text);
  return typeof address !== 'string' && address.zone === '';
}

/** The family of an address in sloppy notation; an IPv4-mapped IPv6 address counts as IPv4. Undefined for other texts. */
export function ipFamilyOf(text: string): IpFamily | undefined {
  const address = parseSloppyIpAddress(text);
  if (address === undefined) return undefined;
  return address.bytes.length === 4 || isIpv4Mapped(address.bytes) ? 4 : 6;
}

/** Formats an address in its canonical notation, as Go's `netip.Addr.String` does. */
export function formatIpAddress({ bytes, zone }: IpAddress): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from(
    { length: 8 },
    (_, index) => (bytes[index * 2] ?? 0) * 256 + (bytes[index * 2 + 1] ?? 0),
  );
  const { start, end } = longestZeros(groups);
  const suffix = zone === '' ? '' : `%${zone}`;
  if (start < 0) return groups.map(hex).join(':') + suffix;
  return `${groups.slice(0, start).map(hex).join(':')}::${groups.slice(end).map(hex).join(':')}${suffix}`;
}

/** The first `prefixLength` bits; the others are 0. */
export function maskIpBytes(bytes: readonly number[], prefixLength: number): readonly number[] {
  return bytes.map((byte, index) => {
    const kept = Math.max(0, Math.min(8, prefixLength - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

/** Whether these are the bytes of an IPv4 address in IPv6 notation: `::ffff:10.0.0.1`. */
export function isIpv4Mapped(bytes: readonly number[]): boolean {
  return (
    bytes.length === 16 &&
    bytes.slice(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  );
}

export function isUnspecifiedIp(bytes: readonly number[]): boolean {
  return bytes.every((byte) => byte === 0);
}

export function isLoopbackIp(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

export function isMulticastIp(bytes: readonly number[]): boolean {
  const first = bytes[0] ?? 0;
  return bytes.length === 4 ? (first & 0xf0) === 0xe0 : first === 0xff;
}

export function isLinkLocalMulticastIp(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02;
}

export function isLinkLocalUnicastIp(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254;
  return bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

type Fail = (message: string, at?: string) => string;

function failing(text: string): Fail {
  return (message, at) =>
    `ParseAddr(${goQuoted(text)}): ${message}${at === undefined ? '' : ` (at ${goQuoted(at)})`}`;
}

function parseIpv4(text: string, fail: Fail): readonly number[] | string {
  const bytes: number[] = [];
  let digits = '';
  for (let index = 0; index < text.length; index++) {
    const letter = text[index] ?? '';
    if (/\d/.test(letter)) {
      if (digits === '0') return fail('IPv4 field has octet with leading zero');
      digits += letter;
      if (Number(digits) > 255) return fail('IPv4 field has value >255');
    } else if (letter === '.') {
      if (index === 0 || index === text.length - 1 || text[index - 1] === '.') {
        return fail('IPv4 field must have at least one digit', text.slice(index));
      }
      if (bytes.length === 3) return fail('IPv4 address too long');
      bytes.push(Number(digits));
      digits = '';
    } else {
      return fail('unexpected character', text.slice(index));
    }
  }
  return bytes.length < 3 ? fail('IPv4 address too short') : [...bytes, Number(digits)];
}

function parseIpv6(text: string, fail: Fail): IpAddress | string {
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') return fail('zone must be a non-empty string');
  const groups = readGroups(percent < 0 ? text : text.slice(0, percent), fail);
  if (typeof groups === 'string') return groups;
  const { bytes, ellipsis } = groups;
  if (bytes.length === 16) {
    return ellipsis < 0 ? { bytes, zone } : fail('the :: must expand to at least one field of zeros');
  }
  if (ellipsis < 0) return fail('address string too short');
  const zeros = Array.from({ length: 16 - bytes.length }, () => 0);
  return { bytes: [...bytes.slice(0, ellipsis), ...zeros, ...bytes.slice(ellipsis)], zone };
}

interface Ipv6Groups {
  readonly bytes: readonly number[];
  /** The position of `::`, in bytes; negative if there is none. */
  readonly ellipsis: number;
}

function readGroups(text: string, fail: Fail): Ipv6Groups | string {
  const bytes: number[] = [];
  let ellipsis = text.startsWith('::') ? 0 : -1;
  let rest = ellipsis === 0 ? text.slice(2) : text;
  while (bytes.length < 16 && !(rest === '' && ellipsis >= 0)) {
    const group = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? '';
    if (group.length > 4) return fail('each group must have 4 or less digits', rest);
    if (group === '') return fail('each colon-separated field must have at least one digit', rest);
    if (rest[group.length] === '.') return withIpv4(bytes, ellipsis, rest, fail);
    bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    rest = rest.slice(group.length);
    if (rest === '') break;
    if (rest[0] !== ':') return fail('unexpected character, want colon', rest);
    if (rest.length === 1) return fail('colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (rest[0] !== ':') continue;
    if (ellipsis >= 0) return fail('multiple :: in address', rest);
    ellipsis = bytes.length;
    rest = rest.slice(1);
  }
  return rest === '' ? { bytes, ellipsis } : fail('trailing garbage after address', rest);
}

function withIpv4(bytes: readonly number[], ellipsis: number, rest: string, fail: Fail): Ipv6Groups | string {
  if (ellipsis < 0 && bytes.length !== 12) {
    return fail('embedded IPv4 address must replace the final 2 fields of the address', rest);
  }
  if (bytes.length > 12) {
    return fail('too many hex fields to fit an embedded IPv4 at the end of the address', rest);
  }
  const last = parseIpv4(rest, fail);
  return typeof last === 'string' ? last : { bytes: [...bytes, ...last], ellipsis };
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly end: number } {
  let best = { start: -1, end: -1 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (end < groups.length && groups[end] === 0) end++;
    if (end - start >= 2 && end - start > best.end - best.start) best = { start, end };
  }
  return best;
}

function hex(group: number): string {
  return group.toString(16);
}
