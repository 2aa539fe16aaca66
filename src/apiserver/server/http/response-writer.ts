import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { FullResponse } from '../../../io/http/full-response.ts';
import type { ServerMetrics } from '../metrics.ts';
import type { GeneratedResponse, IncomingRequest } from './http-exchange.ts';

/** Compressing smaller responses costs more than it saves; kube-apiserver uses the same threshold. */
const gzipFromBytes = 128 * 1024;
/** Bytes per write: large enough for the socket, small enough for thousands of clients that do not read. */
const pieceBytes = 64 * 1024;
/** So many responses are compressed at a time; further ones are sent without compression, which takes no memory. */
const compressionsMaxDefault = 32;
/** A client that has read nothing for so long is disconnected. */
const stalledMaxMsDefault = 60_000;

export interface ResponseWriterOptions {
  readonly metrics: ServerMetrics;
  readonly compressionsMax?: number | undefined;
  readonly stalledMaxMs?: number | undefined;
}

/**
 * Sends complete responses, compressed if the client accepts that and it pays off, no faster than the client reads. A
 * response takes little memory beside its body: it is compressed while it is sent, and the compressed form of a document
 * that many clients request is kept with the document.
 */
export class ResponseWriter {
  readonly #metrics: ServerMetrics;
  readonly #compressionsMax: number;
  readonly #stalledMaxMs: number;
  readonly #compressedDocuments = new WeakMap<Uint8Array, Promise<Buffer>>();
  #compressions = 0;
  #documentsCompressed = 0;

  constructor({ metrics, compressionsMax, stalledMaxMs }: ResponseWriterOptions) {
    this.#metrics = metrics;
    this.#compressionsMax = compressionsMax ?? compressionsMaxDefault;
    this.#stalledMaxMs = stalledMaxMs ?? stalledMaxMsDefault;
  }

  /** How many shared documents were compressed, each once. */
  get documentsCompressed(): number {
    return this.#documentsCompressed;
  }

  async send(request: IncomingRequest, full: FullResponse, response: ServerResponse): Promise<void> {
    response.setTimeout(this.#stalledMaxMs, () => response.destroy());
    if (!isCompressible(request, full)) return await this.#sendPlain(request, full, response);
    const [document] = full.body;
    if (full.isShared === true && full.body.length === 1 && document !== undefined) {
      const body = [await this.#compressedDocument(document)];
      return await this.#sendPlain(request, { ...full, headers: compressedHeaders(full), body }, response);
    }
    if (this.#compressions >= this.#compressionsMax) return await this.#sendPlain(request, full, response);
    await this.#sendCompressed(full, response);
  }

  /** Sends a response while its body is made. An error of what makes it is thrown; the client sees that its response is incomplete. */
  async sendGenerated(
    request: IncomingRequest,
    generated: GeneratedResponse,
    response: ServerResponse,
  ): Promise<void> {
    response.setTimeout(this.#stalledMaxMs, () => response.destroy());
    if (response.destroyed) return;
    const isCompressed = acceptsGzip(request) && this.#compressions < this.#compressionsMax;
    const headers = isCompressed ? compressedHeaders(generated) : generated.headers;
    response.writeHead(generated.status, { ...headers } as Record<string, string>);
    if (request.method === 'HEAD') response.end();
    else if (isCompressed) await this.#compressInto(response, generated.pieces);
    else await this.#sendAll(generated.pieces, response);
  }

  async #sendAll(pieces: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> {
    for await (const piece of pieces) {
      if (response.destroyed) return;
      this.#metrics.responseBytes += piece.length;
      if (!response.write(piece)) await writableAgain(response);
    }
    response.end();
  }

  async #sendPlain(
    request: IncomingRequest,
    { status, headers, body }: FullResponse,
    response: ServerResponse,
  ): Promise<void> {
    const bytes = lengthOf(body);
    this.#metrics.responseBytes += bytes;
    if (response.destroyed) return;
    const length = status === 304 ? {} : { 'Content-Length': bytes };
    response.writeHead(status, { ...headers, ...length } as Record<string, string>);
    if (request.method === 'HEAD' || bytes === 0) response.end();
    else if (bytes <= pieceBytes) response.end(body.length === 1 ? body[0] : Buffer.concat(body));
    else await sendPieces(body, response);
  }

  /** The length is known only at the end, so the response is sent in chunks. */
  async #sendCompressed(full: FullResponse, response: ServerResponse): Promise<void> {
    if (response.destroyed) return;
    response.writeHead(full.status, compressedHeaders(full) as Record<string, string>);
    await this.#compressInto(response, piecesOf(full.body));
  }

  async #compressInto(
    response: ServerResponse,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    let failure: unknown;
    const source = async function* () {
      try {
        yield* pieces;
      } catch (error) {
        // If the client has disconnected, its error arrives here too.
        if (!response.destroyed) failure = error;
        throw error;
      }
    };
    this.#compressions += 1;
    try {
      const readable = Readable.from(source(), { objectMode: true, highWaterMark: 1 });
      await pipeline(readable, createGzip({ level: 1 }), (each) => this.#counted(each), response);
    } catch (error) {
      // The client has disconnected, or was disconnected because it does not read; or the body could not be made.
      if (failure !== undefined || !response.destroyed) throw error;
    } finally {
      this.#compressions -= 1;
    }
  }

  async *#counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      this.#metrics.responseBytes += piece.length;
      yield piece;
    }
  }

  /** Compressed once, however many clients request it at the same time. */
  #compressedDocument(document: Uint8Array): Promise<Buffer> {
    let compressed = this.#compressedDocuments.get(document);
    if (compressed === undefined) {
      this.#documentsCompressed += 1;
      compressed = compress(document, { level: 1 });
      this.#compressedDocuments.set(document, compressed);
    }
    return compressed;
  }
}

const compress = promisify(gzip);

function isCompressible(request: IncomingRequest, { body }: FullResponse): boolean {
  return request.method === 'GET' && lengthOf(body) >= gzipFromBytes && acceptsGzip(request);
}

function compressedHeaders({ headers }: Pick<FullResponse, 'headers'>): FullResponse['headers'] {
  const vary = headers.Vary === undefined ? 'Accept-Encoding' : `${headers.Vary}, Accept-Encoding`;
  return { ...headers, 'Content-Encoding': 'gzip', Vary: vary };
}

function acceptsGzip({ headers }: IncomingRequest): boolean {
  const accepted = headers['accept-encoding'];
  return (
    typeof accepted === 'string' && accepted.split(',').some((coding) => /^\s*gzip\s*(;|$)/.test(coding))
  );
}

async function sendPieces(body: readonly Uint8Array[], response: ServerResponse): Promise<void> {
  for (const piece of piecesOf(body)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await writableAgain(response);
  }
  response.end();
}

/** Joins the many small items of a list into chunks, and splits large parts, without ever copying more than one chunk. */
function* piecesOf(body: readonly Uint8Array[]): Generator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for (const part of body) {
    for (let at = 0; at < part.length; at += pieceBytes) {
      const piece = part.subarray(at, at + pieceBytes);
      if (bytes + piece.length > pieceBytes) {
        yield joined(gathered);
        gathered = [];
        bytes = 0;
      }
      gathered.push(piece);
      bytes += piece.length;
    }
  }
  if (bytes > 0) yield joined(gathered);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

function writableAgain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function lengthOf(body: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const part of body) bytes += part.length;
  return bytes;
}
