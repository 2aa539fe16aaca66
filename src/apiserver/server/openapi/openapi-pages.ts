import type { FullResponse } from '../../../io/http/full-response.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import { cachedPerCatalogVersion } from '../catalog-version-cache.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { acceptHeader, parseAccept } from '../responses/negotiation.ts';
import { type ReviewKind, reviewKinds } from '../routing/review-kinds.ts';
import { descriptionOf } from './descriptions.ts';
import { documentName, resourcePaths, reviewPaths } from './paths.ts';
import { SchemaCollector } from './schemas.ts';
import { contentHash, taggedPageResponse } from './tagged-page.ts';

interface Document {
  readonly body: Buffer;
  readonly hash: string;
}

/** The kinds of one group and version. */
interface DocumentKinds {
  readonly kinds: readonly ServedKind[];
  readonly reviews: readonly ReviewKind[];
}

/**
 * So many documents with custom kinds are kept; others are built again when they are requested. A document repeats the
 * types of metadata, so it is much larger than the definition of its kinds.
 */
const customDocumentsMax = 64;

/**
 * `/openapi/v3`: an index, and one document for each group and version. kubectl reads them to validate, explain and
 * merge. Documents are built on first request.
 *
 * The index contains a hash of each document. That of a document with custom kinds is computed from their definitions,
 * so that the index does not need the documents: a definition may have thousands of versions.
 */
export class OpenApiPages {
  readonly #kinds: () => ReadonlyMap<string, DocumentKinds>;
  readonly #indexBody: () => Buffer;
  /** Documents without custom kinds never change. */
  readonly #builtIn = new Map<string, Document>();
  /** Schemas of custom kinds by hash, the least recently requested first. */
  readonly #custom = new Map<string, Buffer>();
  #documentsBuilt = 0;

  constructor(kinds: KindCatalog) {
    this.#kinds = cachedPerCatalogVersion(kinds, kindsByDocument);
    this.#indexBody = cachedPerCatalogVersion(kinds, () => this.#makeIndex());
  }

  /** For tests: building a document is the expensive part. */
  get documentsBuilt(): number {
    return this.#documentsBuilt;
  }

  /** `path` is what follows `/openapi/v3/`. */
  respond(request: IncomingRequest, path: string): FullResponse {
    if (path === '') return this.#index(request);
    const kinds = this.#kinds().get(path);
    if (kinds === undefined) return plain(404);
    if (!acceptsJson(request)) return { ...plain(406), headers: { Vary: 'Accept' } };
    return documentResponse(request, path, this.#document(path, kinds));
  }

  #index(request: IncomingRequest): FullResponse {
    const body = this.#indexBody();
    // kube-apiserver's content type, although the body is JSON.
    const type = 'text/plain; charset=utf-8';
    const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': type };
    return taggedPageResponse(request, { hash: contentHash(body), headers, body });
  }

  #makeIndex(): Buffer {
    const paths: Record<string, object> = {};
    for (const [name, kinds] of this.#kinds()) {
      const hash = definitionsHash(name, kinds) ?? this.#builtInDocument(name, kinds).hash;
      paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
    }
    return Buffer.from(JSON.stringify({ paths }));
  }

  #document(name: string, kinds: DocumentKinds): Document {
    const hash = definitionsHash(name, kinds);
    if (hash === undefined) return this.#builtInDocument(name, kinds);
    const body = this.#custom.get(hash) ?? this.#make(kinds);
    this.#custom.delete(hash);
    this.#custom.set(hash, body);
    const [oldest] = this.#custom.keys();
    if (oldest !== undefined && this.#custom.size > customDocumentsMax) this.#custom.delete(oldest);
    return { hash, body };
  }

  #builtInDocument(name: string, kinds: DocumentKinds): Document {
    let document = this.#builtIn.get(name);
    if (document === undefined) {
      const body = this.#make(kinds);
      document = { body, hash: contentHash(body) };
      this.#builtIn.set(name, document);
    }
    return document;
  }

  #make({ kinds, reviews }: DocumentKinds): Buffer {
    this.#documentsBuilt += 1;
    const schemas = new SchemaCollector(descriptionOf);
    const paths = Object.assign(
      {},
      ...kinds.map((kind) => resourcePaths(kind, schemas)),
      ...reviews.map((kind) => reviewPaths(kind, schemas)),
    );
    const info = { title: 'Kubernetes', version: '1.36' };
    const document = { openapi: '3.0.0', info, paths, components: { schemas: schemas.schemas } };
    return Buffer.from(jsonText(document));
  }
}

/** Sorted by name. */
function kindsByDocument({ all }: KindCatalog): ReadonlyMap<string, DocumentKinds> {
  const found = new Map<string, { kinds: ServedKind[]; reviews: ReviewKind[] }>();
  const documentOf = (kind: ServedKind | ReviewKind) => {
    const name = documentName(kind);
    const document = found.get(name) ?? { kinds: [], reviews: [] };
    found.set(name, document);
    return document;
  };
  for (const kind of all) documentOf(kind).kinds.push(kind);
  for (const kind of reviewKinds) documentOf(kind).reviews.push(kind);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Undefined if no kind is custom. */
function definitionsHash(name: string, { kinds }: DocumentKinds): string | undefined {
  if (kinds.every(({ definition }) => definition === undefined)) return undefined;
  return contentHash(Buffer.from(jsonText([name, kinds.map(publishedFacts)])));
}

/** Everything that a document contains about a kind. */
function publishedFacts(kind: ServedKind): readonly unknown[] {
  const { plural, namespaced, hasStatus, scale, definition, type } = kind;
  const isScalable = scale !== undefined;
  return [type, plural, namespaced, hasStatus, isScalable, definition?.listKind, definition?.publishedSchema];
}

/** A document requested by its current hash never changes; a request with another hash is redirected. */
function documentResponse(request: IncomingRequest, path: string, { body, hash }: Document): FullResponse {
  const asked = request.query.get('hash') ?? '';
  const headers = { 'Content-Type': 'application/json', Vary: 'Accept' };
  if (asked !== '' && asked !== hash) {
    const moved = { ...headers, ETag: `"${hash}"`, Location: `/openapi/v3/${path}?hash=${hash}` };
    return { status: 301, headers: moved, body: [] };
  }
  const caching = asked === '' ? 'no-cache, private' : 'public, immutable';
  return taggedPageResponse(request, { hash, headers: { ...headers, 'Cache-Control': caching }, body });
}

function acceptsJson(request: IncomingRequest): boolean {
  const header = acceptHeader(request);
  return header === '' || parseAccept(header).some(({ type, subtype }) => isJson(type, subtype));
}

function isJson(type: string, subtype: string): boolean {
  return type === '*' || (type === 'application' && (subtype === 'json' || subtype === '*'));
}

function plain(status: number): FullResponse {
  return { status, headers: { 'Cache-Control': 'no-cache, private' }, body: [] };
}
