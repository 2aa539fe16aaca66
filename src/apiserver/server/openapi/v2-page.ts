import { type FullResponse, pageNotFound } from '../../../io/http/full-response.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import { cachedPerCatalogVersion } from '../catalog-version-cache.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { type AcceptClause, acceptHeader, parseAccept } from '../responses/negotiation.ts';
import { contentHash, taggedPageResponse } from './tagged-page.ts';
import { openApiV2Document } from './v2-document.ts';
import { openApiV2Protobuf } from './v2-protobuf.ts';

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Accepted media types and the content type of the response. Protobuf also has an old name that is not a valid media type. */
const formats: readonly { readonly type: string; readonly contentType: string; readonly format: V2Format }[] =
  [
    { type: 'application/json', contentType: 'application/json', format: 'json' },
    {
      type: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      contentType: protobufType,
      format: 'protobuf',
    },
    { type: protobufType, contentType: protobufType, format: 'protobuf' },
  ];

type V2Format = 'json' | 'protobuf';

/**
 * `/openapi/v2`: all schemas in one document. kubectl validates the items of a `List` with it; older versions validate
 * everything. The document is built on first request, and again after the served kinds have changed.
 */
export class OpenApiV2Page {
  readonly #document: () => Document;

  constructor(kinds: KindCatalog) {
    this.#document = cachedPerCatalogVersion(kinds, (catalogue) => new Document(catalogue));
  }

  respond(request: IncomingRequest): FullResponse {
    if (request.path.endsWith('/')) return pageNotFound();
    const clauses = parseAccept(acceptHeader(request) || '*/*');
    const chosen = clauses.flatMap((clause) => formats.filter(({ type }) => matches(clause, type)))[0];
    const headers = { 'Cache-Control': 'no-cache, private', Vary: 'Accept' };
    if (chosen === undefined) return { status: 406, headers, body: [] };
    const document = this.#document();
    return taggedPageResponse(request, {
      hash: document.hash,
      headers: { ...headers, 'Content-Type': chosen.contentType },
      body: document[chosen.format],
    });
  }
}

/** Both formats share one ETag, since the response varies by Accept. */
class Document {
  readonly json: Buffer;
  readonly hash: string;
  #protobuf: Buffer | undefined;

  constructor(kinds: KindCatalog) {
    this.json = Buffer.from(jsonText(openApiV2Document(kinds)));
    this.hash = contentHash(this.json);
  }

  get protobuf(): Buffer {
    this.#protobuf ??= openApiV2Protobuf(JSON.parse(this.json.toString()));
    return this.#protobuf;
  }
}

function matches({ type, subtype }: AcceptClause, offered: string): boolean {
  const [offeredType, offeredSubtype] = offered.split('/');
  return (type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype);
}
