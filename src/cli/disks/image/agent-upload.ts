import { createReadStream } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { AgentAddress } from '../../../controllers/disk-agent/agent-address.ts';
import { pinnedSocket } from '../../../controllers/disk-agent/transfer/pinned-socket.ts';
import { messageOf } from '../../../runtime/error-message.ts';

/** An agent that takes an image. */
export interface UploadPlace extends AgentAddress {
  readonly imageName: string;
  readonly token: string;
}

/** The agent can't be reached, or does not take the image. */
export class UploadError extends Error {
  /** False if another attempt can't help. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UploadError';
    this.isPassing = isPassing;
  }
}

const answerBytesMax = 4_096;

/** How much of the image the agent has. */
export async function uploadedBytes(
  place: UploadPlace,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly isComplete: boolean }> {
  const response = await exchange(place, { method: 'HEAD' }, undefined, signal);
  const bytes = Number(response.headers['upload-offset'] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes))
    throw new UploadError(`the agent at ${place.url} does not say how much it has`, false);
  return { bytes, isComplete: response.headers['upload-complete'] === '?1' };
}

export interface UploadedFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Sends the rest of the file, from `startBytes` on. `onProgress` is called with the bytes that have been sent in all. */
export async function sendRest(
  place: UploadPlace,
  { path, sizeBytes }: UploadedFile,
  { startBytes, onProgress }: { readonly startBytes: number; readonly onProgress: (bytes: number) => void },
  signal: AbortSignal,
): Promise<void> {
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Length': sizeBytes - startBytes,
    'Content-Range': `bytes ${startBytes}-${sizeBytes - 1}/${sizeBytes}`,
  };
  async function* chunks() {
    let sent = startBytes;
    for await (const chunk of createReadStream(path, { start: startBytes }) as AsyncIterable<Buffer>) {
      yield chunk;
      sent += chunk.length;
      onProgress(sent);
    }
  }
  await exchange(place, { method: 'PUT', headers }, chunks(), signal);
}

/** One request on a separate connection. The token is sent only after the certificate was found to be the right one. */
async function exchange(
  place: UploadPlace,
  { method, headers = {} }: { readonly method: string; readonly headers?: OutgoingHttpHeaders },
  body: AsyncIterable<Buffer> | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, imageName, token } = place;
  let socket: TLSSocket | undefined;
  try {
    socket = await pinnedSocket(place, signal);
    const response = await responseTo(socket, body, {
      method,
      path: `/images/${imageName}/data`,
      headers: { host: new URL(url).host, authorization: `Bearer ${token}`, ...headers },
    });
    const { statusCode = 0 } = response;
    const text = method === 'HEAD' ? '' : await shortText(response);
    if (statusCode >= 200 && statusCode < 300) return response;
    const why = text.trim() || `status ${statusCode}`;
    throw new UploadError(`the agent at ${url} refuses the image: ${why}`, isPassingStatus(statusCode));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UploadError) throw error;
    throw new UploadError(`the agent at ${url} can't be reached: ${messageOf(error)}`, true, {
      cause: error,
    });
  } finally {
    socket?.destroy();
  }
}

/** 403 and 409: the agent may not have seen the image yet, or something else about it is under way. */
function isPassingStatus(status: number): boolean {
  return status >= 500 || [403, 404, 408, 409, 416, 423, 425, 429].includes(status);
}

function responseTo(
  socket: TLSSocket,
  body: AsyncIterable<Buffer> | undefined,
  options: { readonly method: string; readonly path: string; readonly headers: OutgoingHttpHeaders },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ createConnection: () => socket, ...options });
    let response: IncomingMessage | undefined;
    sent.once('response', (found) => {
      response = found;
      resolve(found);
    });
    sent.once('error', reject);
    // A server that refuses the image answers before it has read everything; then its answer counts, and not the closed connection.
    if (body === undefined) sent.end();
    else pipeline(body, sent).catch((error: unknown) => (response === undefined ? reject(error) : undefined));
  });
}

async function shortText(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > answerBytesMax) break;
  }
  return text.slice(0, answerBytesMax);
}
