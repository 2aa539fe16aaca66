import { isIpv6 } from '../../../kube/ip-address.ts';

/** An absolute URI, or a path from the root, as Go's url.ParseRequestURI accepts it. */
export function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check is about these characters
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (text === '*') return true;
  const parts = /^([a-z][a-z0-9+.-]*):/i.exec(text);
  if (parts === null && text.startsWith(':')) return false;
  const scheme = (parts?.[1] ?? '').toLowerCase();
  const [rest = ''] = text.slice(parts?.[0].length ?? 0).split('?', 1);
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//')) return areEscapesComplete(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return isAuthority(scheme, authority) && (slash < 0 || areEscapesComplete(rest.slice(slash)));
}

function isAuthority(scheme: string, authority: string): boolean {
  const at = authority.lastIndexOf('@');
  if (at < 0) return isHost(scheme, authority);
  const user = authority.slice(0, at);
  const isUser = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && user.split(':').every(areEscapesComplete);
  return isUser && isHost(scheme, authority.slice(at + 1));
}

function isHost(scheme: string, host: string): boolean {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) return false;
  if (bracket === 0) return isLiteralHost(host);
  const isWeb = scheme === 'http' || scheme === 'https';
  const colon = isWeb ? host.indexOf(':') : host.lastIndexOf(':');
  return (colon < 0 || isPort(host.slice(colon))) && isHostText(host);
}

function isLiteralHost(host: string): boolean {
  const end = host.lastIndexOf(']');
  if (end < 0 || !isPort(host.slice(end + 1))) return false;
  const name = host.slice(1, end);
  const zone = name.indexOf('%25');
  if (zone < 0) return isIpv6(name);
  return isIpv6(name.slice(0, zone)) && name.length > zone + 3 && isZone(name.slice(zone));
}

function isPort(text: string): boolean {
  return text === '' || /^:\d*$/.test(text);
}

const hostLetter = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]/;

/** Only characters beyond ASCII may be escaped. */
function isHostText(host: string): boolean {
  return /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]|%[89a-f][0-9a-f]|%25)*$/i.test(host);
}

/** Only characters that are also valid unescaped, and spaces, may be escaped. */
function isZone(zone: string): boolean {
  return [...zone.matchAll(/%([0-9a-f]{2})?|[^%]/gi)].every(([text, code]) => {
    if (!text.startsWith('%')) return hostLetter.test(text);
    if (code === undefined) return false;
    const letter = String.fromCharCode(Number.parseInt(code, 16));
    return letter === '%' || letter === ' ' || (letter < '\u0080' && hostLetter.test(letter));
  });
}

function areEscapesComplete(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text);
}
