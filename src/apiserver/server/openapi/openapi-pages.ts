import type { FullResponse } from '../../../io/http/full-response.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import { cachedPerCatalogVersion } from '../catalog-version-cache.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { acceptHeader, parseAccept } from '../responses/negotiation.ts';
import { reviewKinds } from '../routing/review-kinds.ts';
import { documentName, resourcePaths, reviewPaths } from './paths.ts';
import { SchemaCollector } from './schemas.ts';
import { contentHash, taggedPageResponse } from './tagged-page.ts';

interface Document {
  readonly body: Buffer;
  readonly hash: string;
}

/**
 * `/openapi/v3`: an index, and one document for each group and version. kubectl reads them to validate, explain and
 * merge. Documents are built on first request, and again after the served kinds have changed.
 */
export class OpenApiPages {
  readonly #kinds: KindCatalog;
  readonly #documents: () => Map<string, Document>;

  constructor(kinds: KindCatalog) {
    this.#kinds = kinds;
    this.#documents = cachedPerCatalogVersion(kinds, () => new Map<string, Document>());
  }

  /** `path` is what follows `/openapi/v3/`. */
  respond(request: IncomingRequest, path: string): FullResponse {
    if (path === '') return this.#index(request);
    const document = this.#document(path);
    if (document === undefined) return plain(404);
    if (!acceptsJson(request)) return { ...plain(406), headers: { Vary: 'Accept' } };
    return documentResponse(request, path, document);
  }

  #index(request: IncomingRequest): FullResponse {
    const paths: Record<string, object> = {};
    for (const name of this.#names()) {
      const hash = this.#document(name)?.hash;
      paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
    }
    const body = Buffer.from(JSON.stringify({ paths }));
    // kube-apiserver's content type, although the body is JSON.
    const type = 'text/plain; charset=utf-8';
    const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': type };
    return taggedPageResponse(request, { hash: contentHash(body), headers, body });
  }

  #names(): readonly string[] {
    return [...new Set([...this.#kinds.all, ...reviewKinds].map(documentName))].sort();
  }

  #document(name: string): Document | undefined {
    const known = this.#documents().get(name);
    if (known !== undefined || !this.#names().includes(name)) return known;
    const body = Buffer.from(JSON.stringify(this.#make(name)));
    const made = { body, hash: contentHash(body) };
    this.#documents().set(name, made);
    return made;
  }

  #make(name: string): object {
    const schemas = new SchemaCollector();
    const kinds = this.#kinds.all.filter((kind) => documentName(kind) === name);
    const reviews = reviewKinds.filter((kind) => documentName(kind) === name);
    const paths = Object.assign(
      {},
      ...kinds.map((kind) => resourcePaths(kind, schemas)),
      ...reviews.map((kind) => reviewPaths(kind, schemas)),
    );
    const info = { title: 'Kubernetes', version: '1.36' };
    return { openapi: '3.0.0', info, paths, components: { schemas: schemas.schemas } };
  }
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
