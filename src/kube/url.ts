import { goQuoted } from './go/quote.ts';
import { parseIpAddress } from './ip-address.ts';

export interface ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly escapedPath: string;
  readonly query: string;
}

/** The error of Go's url.ParseRequestURI for a text; undefined if it is valid. */
export function requestUriProblem(text: string): string | undefined {
  const parsed = parseUrl(text, true);
  return typeof parsed === 'string' ? parsed : undefined;
}

/** The parts of a URL, or the error message. `viaRequest`: the text must be absolute, by its scheme or by a slash. */
export function parseUrl(text: string, viaRequest: boolean): ParsedUrl | string {
  const [rest = ''] = viaRequest ? [text] : text.split('#', 1);
  const parsed = parseParts(rest, viaRequest);
  return typeof parsed === 'string' ? `parse ${goQuoted(text)}: ${parsed}` : parsed;
}

/** All values of all keys; malformed parts are dropped. */
export function queryOf(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const [key, value] = cut(part, '=').map((text) => decoded(text.replaceAll('+', ' ')));
    if (key === undefined || value === undefined) continue;
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

function parseParts(text: string, viaRequest: boolean): ParsedUrl | string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check is about these characters
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '' && viaRequest) return 'empty url';
  if (text === '*') return { scheme: '', host: '', escapedPath: '*', query: '' };
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [, schemeText = '', afterScheme = text] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s.exec(text) ?? [];
  const scheme = schemeText.toLowerCase();
  const [path, query] = cut(afterScheme, '?');
  if (!path.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', escapedPath: '', query };
    if (viaRequest) return 'invalid URI for request';
    if ((path.split('/')[0] ?? '').includes(':')) return 'first path segment in URL cannot contain colon';
  }
  const hasAuthority = path.startsWith('//') && (scheme !== '' || (!viaRequest && !path.startsWith('///')));
  if (!hasAuthority) return withPath({ scheme, host: '', query }, path);
  const slash = path.indexOf('/', 2);
  const authority = slash < 0 ? path.slice(2) : path.slice(2, slash);
  const host = parseAuthority(scheme, authority);
  if ('problem' in host) return host.problem;
  return withPath({ scheme, host: host.host, query }, slash < 0 ? '' : path.slice(slash));
}

function withPath(parts: Omit<ParsedUrl, 'escapedPath'>, path: string): ParsedUrl | string {
  const plain = decoded(path);
  if (plain === undefined) return escapeProblem(path);
  const isValid = /^[A-Za-z0-9\-_.~/!$&'()*+,;=:@[\]%]*$/.test(path);
  return { ...parts, escapedPath: isValid ? path : escapePath(plain) };
}

type ParsedHost = { readonly host: string } | { readonly problem: string };

function parseAuthority(scheme: string, authority: string): ParsedHost {
  const at = authority.lastIndexOf('@');
  const host = parseHost(scheme, authority.slice(at + 1));
  if ('problem' in host || at < 0) return host;
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return { problem: 'net/url: invalid userinfo' };
  return decoded(user) === undefined ? { problem: escapeProblem(user) } : host;
}

function parseHost(scheme: string, host: string): ParsedHost {
  const open = host.lastIndexOf('[');
  if (open > 0) return { problem: 'invalid IP-literal' };
  if (open === 0) return parseBracketed(host);
  const first = host.indexOf(':');
  if (first >= 0) {
    const isStrict = scheme === 'http' || scheme === 'https';
    const port = host.slice(isStrict ? first : host.lastIndexOf(':'));
    if (!/^:\d*$/.test(port)) return { problem: `invalid port ${goQuoted(port)} after host` };
  }
  return unescapeHost(host);
}

function parseBracketed(host: string): ParsedHost {
  const close = host.lastIndexOf(']');
  if (close < 0) return { problem: "missing ']' in host" };
  const port = host.slice(close + 1);
  if (!/^(?::\d*)?$/.test(port)) return { problem: `invalid port ${goQuoted(port)} after host` };
  const address = unescapeAddress(host.slice(1, close));
  if ('problem' in address) return address;
  const parsed = parseIpAddress(address.host);
  if (typeof parsed === 'string') return { problem: `invalid host: ${parsed}` };
  if (parsed.bytes.length === 4) return { problem: 'invalid IP-literal' };
  return { host: `[${address.host}]${port}` };
}

/** An IPv6 address in brackets; `%25` separates its zone. */
function unescapeAddress(text: string): ParsedHost {
  const zoneAt = text.indexOf('%25');
  if (zoneAt < 0) return unescapeHost(text);
  const address = unescapeHost(text.slice(0, zoneAt));
  const zone = unescapeZone(text.slice(zoneAt));
  if ('problem' in address) return address;
  return 'problem' in zone ? zone : { host: address.host + zone.host };
}

/** Only characters that are also valid unescaped, percent signs and spaces may be escaped in a zone. */
function unescapeZone(zone: string): ParsedHost {
  const bad = invalidInHost.exec(zone);
  if (bad !== null) return { problem: `invalid character ${goQuoted(bad[0])} in host name` };
  const plain = decoded(zone);
  if (plain === undefined) return { problem: escapeProblem(zone) };
  for (const [escaped] of zone.matchAll(/%[0-9a-fA-F]{2}/g)) {
    const code = Number.parseInt(escaped.slice(1), 16);
    const isAllowed = code < 0x80 && / |%|[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/.test(String.fromCharCode(code));
    if (!isAllowed) return { problem: `invalid URL escape ${goQuoted(escaped)}` };
  }
  return { host: plain };
}

const invalidInHost = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u;

/** Only percent signs and characters beyond ASCII may be escaped in a host. */
function unescapeHost(host: string): ParsedHost {
  const bad = invalidInHost.exec(host);
  if (bad !== null) return { problem: `invalid character ${goQuoted(bad[0])} in host name` };
  const plain = decoded(host);
  if (plain === undefined) return { problem: escapeProblem(host) };
  const ascii = /%(?!25)[0-7][0-9a-fA-F]/.exec(host)?.[0];
  return ascii === undefined ? { host: plain } : { problem: `invalid URL escape ${goQuoted(ascii)}` };
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const bytes: number[] = [];
  for (const [part] of text.matchAll(/%[0-9a-fA-F]{2}|[^%]+/g)) {
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16));
    else for (const byte of new TextEncoder().encode(part)) bytes.push(byte);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function escapeProblem(text: string): string {
  const at = text.search(/%(?![0-9a-fA-F]{2})/);
  return `invalid URL escape ${goQuoted(text.slice(at, at + 3))}`;
}

function escapePath(path: string): string {
  return Array.from(new TextEncoder().encode(path), (byte) => {
    const letter = String.fromCharCode(byte);
    if (/[A-Za-z0-9\-_.~$&+,/:;=@]/.test(letter)) return letter;
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
