import { createHash } from 'node:crypto';
import type { Kind } from '../kinds/kind.ts';
import type { FullAnswer, HttpRequest } from './exchange.ts';
import { acceptHeader, parseAccept } from './negotiation.ts';
import { documentName, pathsOf, reviewPathsOf } from './openapi-paths.ts';
import { SchemaCollector } from './openapi-schemas.ts';
import { reviewKinds } from './review-kinds.ts';

interface Document {
  readonly body: Buffer;
  readonly hash: string;
}

/**
 * `/openapi/v3`: an index, and one document for each group and version. kubectl reads them to validate, to explain and to merge.
 * Documents are made when somebody asks for the first time, and stay the same as long as the server runs.
 */
export class OpenApiPages {
  readonly #kinds: readonly Kind[];
  readonly #documents = new Map<string, Document>();

  constructor(kinds: readonly Kind[]) {
    this.#kinds = kinds;
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
    const etag = `"${hashOf(body)}"`;
    // What the real server says it is, although it is JSON.
    const type = 'text/plain; charset=utf-8';
    const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': type, ETag: etag };
    return request.headers['if-none-match'] === etag
      ? { status: 304, headers, body: [] }
      : { status: 200, headers, body: [body] };
  }

  #names(): readonly string[] {
    return [...new Set([...this.#kinds, ...reviewKinds].map(documentName))].sort();
  }

  #document(name: string): Document | undefined {
    const known = this.#documents.get(name);
    if (known !== undefined || !this.#names().includes(name)) return known;
    const body = Buffer.from(JSON.stringify(this.#make(name)));
    const made = { body, hash: hashOf(body) };
    this.#documents.set(name, made);
    return made;
  }

  #make(name: string): object {
    const schemas = new SchemaCollector();
    const kinds = this.#kinds.filter((kind) => documentName(kind) === name);
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
  const etag = `"${hash}"`;
  const headers = { 'Content-Type': 'application/json', ETag: etag, Vary: 'Accept' };
  if (asked !== '' && asked !== hash) {
    return { status: 301, headers: { ...headers, Location: `/openapi/v3/${path}?hash=${hash}` }, body: [] };
  }
  const caching = asked === '' ? 'no-cache, private' : 'public, immutable';
  const all = { ...headers, 'Cache-Control': caching };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: all, body: [] };
  return { status: 200, headers: all, body: [body] };
}

function acceptsJson(request: HttpRequest): boolean {
  const header = acceptHeader(request);
  return header === '' || parseAccept(header).some(({ type, subtype }) => isJson(type, subtype));
}

function isJson(type: string, subtype: string): boolean {
  return type === '*' || (type === 'application' && (subtype === 'json' || subtype === '*'));
}

function hashOf(body: Buffer): string {
  return createHash('sha512').update(body).digest('hex').toUpperCase();
}

function plain(status: number): FullAnswer {
  return { status, headers: { 'Cache-Control': 'no-cache, private' }, body: [] };
}
