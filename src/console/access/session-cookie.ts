/**
 * Browsers send it only to this host over HTTPS; the prefix makes them reject one that another host or plain HTTP has set. To browsers all ports of
 * a host are one, so the port is in the name: the consoles of a cluster and of a file can be open at the same time.
 */
function cookieNameOf(host: string | undefined): string {
  const [, port = '443'] = /:(\d{1,5})$/.exec(host ?? '') ?? [];
  return `__Secure-stowage-console-${port}`;
}

const attributes = 'Path=/console/; HttpOnly; Secure; SameSite=Strict';

/** Browsers drop longer cookies without a word. */
const tokenMaxLength = 3_800;

/** Characters of a token: none that would end a cookie. */
const tokenForm = /^[A-Za-z0-9._~+/=:-]+$/;

export function isPlausibleToken(token: string): boolean {
  return token.length <= tokenMaxLength && tokenForm.test(token);
}

/** Ends with the browser session. `host` is the Host header of the request, here and below. */
export function cookieWith(token: string, host: string | undefined): string {
  return `${cookieNameOf(host)}=${token}; ${attributes}`;
}

export function expiredCookie(host: string | undefined): string {
  return `${cookieNameOf(host)}=; Max-Age=0; ${attributes}`;
}

/** The token in an Authorization header, which programs send; undefined if there is none. Browsers never add it by themselves. */
export function tokenInAuthorization(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return token !== undefined && isPlausibleToken(token) ? token : undefined;
}

/** The token in a Cookie header; undefined if there is none. */
export function tokenIn(header: string | undefined, host: string | undefined): string | undefined {
  const name = cookieNameOf(host);
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() !== name) continue;
    const token = part.slice(at + 1).trim();
    return isPlausibleToken(token) ? token : undefined;
  }
  return undefined;
}
