/** A complete HTTP response. */
export interface FullAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: readonly Uint8Array[];
}

export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

export function textAnswer(status: number, text: string): FullAnswer {
  const headers = {
    'Cache-Control': 'no-cache, private',
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  };
  return { status, headers, body: [Buffer.from(text)] };
}

export function pageNotFound(): FullAnswer {
  return textAnswer(404, '404 page not found\n');
}
