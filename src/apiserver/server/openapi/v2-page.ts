import { type FullResponse, pageNotFound } from '../../../io/http/full-response.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { type AcceptClause, acceptHeader, parseAccept } from '../responses/negotiation.ts';
import { contentHash, taggedPageResponse } from './tagged-page.ts';
import { openApiV2Json } from './v2-document.ts';
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
 * everything. The document is built on first request, and again after the served kinds have changed; at most one at a time.
 */
export class OpenApiV2Page {
  readonly #kinds: KindCatalog;
  #built: { readonly version: number; readonly document: Document } | undefined;
  #building: Promise<void> | undefined;

  constructor(kinds: KindCatalog) {
    this.#kinds = kinds;
  }

  async respond(request: IncomingRequest): Promise<FullResponse> {
    if (request.path.endsWith('/')) return pageNotFound();
    const clauses = parseAccept(acceptHeader(request) || '*/*');
    const chosen = clauses.flatMap((clause) => formats.filter(({ type }) => matches(clause, type)))[0];
    const headers = { 'Cache-Control': 'no-cache, private', Vary: 'Accept' };
    if (chosen === undefined) return { status: 406, headers, body: [] };
    const document = await this.#document();
    return taggedPageResponse(request, {
      hash: document.hash,
      headers: { ...headers, 'Content-Type': chosen.contentType },
      body: chosen.format === 'json' ? document.json : await document.protobuf(),
    });
  }

  /** If the kinds change while the document is built, the document is that of before, as for a request that came earlier. */
  async #document(): Promise<Document> {
    const asked = this.#kinds.version;
    while (this.#built === undefined || this.#built.version < asked) {
      this.#building ??= this.#build().finally(() => {
        this.#building = undefined;
      });
      await this.#building;
    }
    return this.#built.document;
  }

  async #build(): Promise<void> {
    const { version } = this.#kinds;
    this.#built = { version, document: await Document.build(this.#kinds) };
  }
}

/** Both formats share one ETag, since the response varies by Accept. */
class Document {
  readonly json: Buffer;
  readonly hash: string;
  readonly #kinds: Pick<KindCatalog, 'all'>;
  #protobuf: Promise<Buffer> | undefined;

  private constructor(kinds: Pick<KindCatalog, 'all'>, json: Buffer) {
    this.#kinds = kinds;
    this.json = json;
    this.hash = contentHash(json);
  }

  static async build({ all }: KindCatalog): Promise<Document> {
    const kinds = { all };
    return new Document(kinds, await openApiV2Json(kinds));
  }

  protobuf(): Promise<Buffer> {
    this.#protobuf ??= openApiV2Protobuf(this.#kinds);
    return this.#protobuf;
  }
}

function matches({ type, subtype }: AcceptClause, offered: string): boolean {
  const [offeredType, offeredSubtype] = offered.split('/');
  return (type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype);
}
