import type { FullResponse, HttpHeaders } from '../../io/http/full-response.ts';

/** Scripts and styles come from this server only, nothing is inline, and no other page may frame this one. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** On every answer of the console. */
export const securityHeaders: HttpHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Not `no-referrer`: browsers then hide the origin of forms from our own server, too.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const uncached = { 'Cache-Control': 'no-store' };

export function jsonAnswer(value: unknown, status = 200): FullResponse {
  return jsonBytesAnswer(Buffer.from(JSON.stringify(value)), status);
}

export function jsonBytesAnswer(json: Uint8Array, status = 200): FullResponse {
  const headers = { ...securityHeaders, ...uncached, 'Content-Type': 'application/json' };
  return { status, headers, body: [json] };
}

/** `message` says what is wrong and what to do. */
export function problemAnswer(status: number, message: string): FullResponse {
  return jsonAnswer({ message }, status);
}

export function htmlAnswer(html: Uint8Array | string, status = 200): FullResponse {
  const headers = { ...securityHeaders, ...uncached, 'Content-Type': 'text/html; charset=utf-8' };
  return { status, headers, body: [Buffer.from(html)] };
}

/** `See Other`: the browser gets the new address, whatever the method was. */
export function redirect(to: string, more: HttpHeaders = {}): FullResponse {
  return { status: 303, headers: { ...securityHeaders, ...uncached, Location: to, ...more }, body: [] };
}
