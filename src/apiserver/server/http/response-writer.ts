import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FullResponse } from '../../../io/http/full-response.ts';
import type { ServerMetrics } from '../metrics.ts';
import type { IncomingRequest } from './http-exchange.ts';

/** Compressing smaller responses costs more than it saves; kube-apiserver uses the same threshold. */
const gzipFromBytes = 128 * 1024;
/** Bytes per write: large enough for the socket, small enough to let other connections take turns. */
const pieceBytes = 256 * 1024;

const compress = promisify(gzip);

/** Sends a response, compressed if the client accepts that and it pays off, no faster than the client reads. */
export async function sendFullResponse(
  request: IncomingRequest,
  full: FullResponse,
  response: ServerResponse,
  metrics: ServerMetrics,
): Promise<void> {
  const { headers, body } = await encoded(request, full);
  const bytes = lengthOf(body);
  metrics.responseBytes += bytes;
  if (response.destroyed) return;
  const length = full.status === 304 ? {} : { 'Content-Length': bytes };
  response.writeHead(full.status, { ...headers, ...length } as Record<string, string>);
  if (request.method === 'HEAD' || bytes === 0) response.end();
  else if (bytes <= pieceBytes) response.end(body.length === 1 ? body[0] : Buffer.concat(body));
  else await sendPieces(body, response);
}

async function encoded(request: IncomingRequest, full: FullResponse): Promise<FullResponse> {
  if (request.method !== 'GET' || lengthOf(full.body) < gzipFromBytes || !acceptsGzip(request)) return full;
  const compressed = await compress(Buffer.concat(full.body), { level: 1 });
  const headers = { ...full.headers, 'Content-Encoding': 'gzip', Vary: varied(full.headers.Vary) };
  return { ...full, headers, body: [compressed] };
}

function varied(vary: string | readonly string[] | undefined): string {
  return vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
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

/** Joins the many small items of a list into chunks, never into one large buffer. */
function* piecesOf(body: readonly Uint8Array[]): Generator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for (const part of body) {
    gathered.push(part);
    bytes += part.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
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
