import { createHash } from 'node:crypto';
import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';

export function contentHash(body: Buffer): string {
  return createHash('sha512').update(body).digest('hex').toUpperCase();
}

export interface TaggedPage {
  readonly hash: string;
  readonly headers: HttpHeaders & { readonly 'Content-Type': string };
  readonly body: Buffer;
}

/** The page, or 304 if the client has this version already. */
export function taggedPageResponse(
  request: IncomingRequest,
  { hash, headers, body }: TaggedPage,
): FullResponse {
  const tag = `"${hash}"`;
  const tagged = { ...headers, ETag: tag };
  if (!isKnown(request.headers['if-none-match'] ?? '', tag))
    return { status: 200, headers: tagged, body: [body], isShared: true };
  const { 'Content-Type': _, ...kept } = tagged;
  return { status: 304, headers: kept, body: [] };
}

/** Weak tags match too: only equality of the content matters. */
function isKnown(header: string, tag: string): boolean {
  return header.split(',').some((each) => ['*', tag, `W/${tag}`].includes(each.trim()));
}
