/** Browsers send it only to this host over HTTPS; the prefix makes them reject one that another host or plain HTTP has set. */
const cookieName = '__Secure-stowage-console';

const attributes = 'Path=/console/; HttpOnly; Secure; SameSite=Strict';

/** Browsers drop longer cookies without a word. */
const tokenMaxLength = 3_800;

/** What a token may consist of: nothing that would end a cookie. */
const tokenForm = /^[A-Za-z0-9._~+/=:-]+$/;

export function isPlausibleToken(token: string): boolean {
  return token.length <= tokenMaxLength && tokenForm.test(token);
}

/** Ends with the browser session. */
export function cookieWith(token: string): string {
  return `${cookieName}=${token}; ${attributes}`;
}

export function expiredCookie(): string {
  return `${cookieName}=; Max-Age=0; ${attributes}`;
}

/** The token in a Cookie header; undefined if there is none. */
export function tokenIn(header: string | undefined): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() !== cookieName) continue;
    const token = part.slice(at + 1).trim();
    return isPlausibleToken(token) ? token : undefined;
  }
  return undefined;
}
