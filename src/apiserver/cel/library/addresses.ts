import { goQuoted } from '../../validation/go-text.ts';

/** An address of the Internet: four bytes or sixteen. */
export interface Address {
  readonly bytes: readonly number[];
  readonly zone: string;
}

/** The address, or what is wrong with it in the words of Go's netip. */
export function parseAddress(text: string): Address | string {
  const decisive = /[.:%]/.exec(text)?.[0];
  const fail = failing(text);
  if (decisive === '.') {
    const bytes = parseIpv4(text, fail);
    return typeof bytes === 'string' ? bytes : { bytes, zone: '' };
  }
  if (decisive === ':') return parseIpv6(text, fail);
  return fail(decisive === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

export function formatAddress({ bytes, zone }: Address): string {
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

function parseIpv6(text: string, fail: Fail): Address | string {
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

interface Groups {
  readonly bytes: readonly number[];
  /** Where `::` stands, in bytes; below zero: nowhere. */
  readonly ellipsis: number;
}

function readGroups(text: string, fail: Fail): Groups | string {
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

function withIpv4(bytes: readonly number[], ellipsis: number, rest: string, fail: Fail): Groups | string {
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
