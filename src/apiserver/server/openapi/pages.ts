import type { FullAnswer } from '../../../io/http/full-response.ts';
import type { KindCatalogue } from '../../kinds/kind-catalog.ts';
import { perEdition } from '../catalog-version-cache.ts';
import type { HttpRequest } from '../http/http-exchange.ts';
import { acceptHeader, parseAccept } from '../responses/negotiation.ts';
import { reviewKinds } from '../routing/review-kinds.ts';
import { contentHash, pageAnswer } from './caching.ts';
import { documentName, pathsOf, reviewPathsOf } from './paths.ts';
import { SchemaCollector } from './schemas.ts';

interface Document {
  readonly body: Buffer;
  readonly hash: string;
}

/**
 * `/openapi/v3`: an index, and one document for each group and version. kubectl reads them to validate, to explain and to merge.
 * Documents are made when somebody asks for the first time, and again when the kinds have changed.
 */
export class OpenApiPages {
  readonly #kinds: KindCatalogue;
  readonly #documents: () => Map<string, Document>;

  constructor(kinds: KindCatalogue) {
    this.#kinds = kinds;
    this.#documents = perEdition(kinds, () => new Map<string, Document>());
  }

  /** `path` is what follows `/openapi/v3/`. */
  answer(request: HttpRequest, path: string): FullAnswer {
    if (path === '') return this.#index(request);
    const document = this.#document(path);
    if (document === undefined) return plain(404);
    if (!acceptsJson(request)) return { ...plain(406), headers: { Vary: 'Accept' } };
    return documentAnswer(request, path, document);
  }

  #index(request: HttpRequest): FullAnswer {
    const paths: Record<string, object> = {};
    for (const name of this.#names()) {
      const hash = this.#document(name)?.hash;
      paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
    }
    const body = Buffer.from(JSON.stringify({ paths }));
    // What the real server says it is, although it is JSON.
    const type = 'text/plain; charset=utf-8';
    const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': type };
    return pageAnswer(request, { hash: contentHash(body), headers, body });
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
      ...kinds.map((kind) => pathsOf(kind, schemas)),
      ...reviews.map((kind) => reviewPathsOf(kind, schemas)),
    );
    const info = { title: 'Kubernetes', version: '1.36' };
    return { openapi: '3.0.0', info, paths, components: { schemas: schemas.schemas } };
  }
}

/** A document with the right hash never changes; one with another hash has moved. */
function documentAnswer(request: HttpRequest, path: string, { body, hash }: Document): FullAnswer {
  const asked = request.query.get('hash') ?? '';
  const headers = { 'Content-Type': 'application/json', Vary: 'Accept' };
  if (asked !== '' && asked !== hash) {
    const moved = { ...headers, ETag: `"${hash}"`, Location: `/openapi/v3/${path}?hash=${hash}` };
    return { status: 301, headers: moved, body: [] };
  }
  const caching = asked === '' ? 'no-cache, private' : 'public, immutable';
  return pageAnswer(request, { hash, headers: { ...headers, 'Cache-Control': caching }, body });
}

function acceptsJson(request: HttpRequest): boolean {
  const header = acceptHeader(request);
  return header === '' || parseAccept(header).some(({ type, subtype }) => isJson(type, subtype));
}

function isJson(type: string, subtype: string): boolean {
  return type === '*' || (type === 'application' && (subtype === 'json' || subtype === '*'));
}

function plain(status: number): FullAnswer {
  return { status, headers: { 'Cache-Control': 'no-cache, private' }, body: [] };
}
