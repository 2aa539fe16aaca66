/** A complete HTTP response. */
export interface FullResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: readonly Uint8Array[];
  /** The body is one buffer that other responses send too, so that its compressed form is worth keeping. */
  readonly isShared?: boolean;
}

export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

export function textResponse(status: number, text: string): FullResponse {
  const headers = {
    'Cache-Control': 'no-cache, private',
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  };
  return { status, headers, body: [Buffer.from(text)] };
}

export function pageNotFound(): FullResponse {
  return textResponse(404, '404 page not found\n');
}
