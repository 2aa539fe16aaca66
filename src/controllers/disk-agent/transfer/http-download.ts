import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { type ByteSource, type ByteStream, type ResumePoint, TransferError } from './byte-source.ts';
import { parseContentRange } from './content-range.ts';
import { withIdleLimit } from './idle-limit.ts';

const redirectsMax = 5;
/** The download from a server that sends nothing for this long is aborted; the next attempt continues. */
const idleMaxMs = 60_000;
const retryableStatus: ReadonlySet<number> = new Set([408, 425, 429]);
const redirectStatus: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The file at a URL. Credentials in the URL are sent to its own host only, and appear in no message. Link-local addresses, where clouds keep
 * the credentials of machines, are refused.
 */
export function httpDownload(url: string, clock: Clock): ByteSource {
  return {
    open: async (from, signal) => {
      let target = parsedUrl(url);
      for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
        const response = await respond(target, from, { clock, signal });
        if (!redirectStatus.has(response.statusCode ?? 0)) return streamOf(response, target, from, clock);
        response.destroy();
        target = redirected(target, response.headers.location);
      }
      throw permanent(`${shown(target)} is the end of more than ${redirectsMax} redirects`);
    },
  };
}

function parsedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw permanent('the URL must begin with http:// or https://');
}

function redirected(from: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw permanent(`${shown(from)} redirects to no valid URL`);
  const to = new URL(location, from);
  if (to.protocol !== from.protocol && to.protocol !== 'https:')
    throw permanent(`${shown(from)} redirects to ${to.protocol}//, which is less safe; use the final URL`);
  if (to.host === from.host && to.username === '') {
    to.username = from.username;
    to.password = from.password;
  }
  return to;
}

function respond(
  url: URL,
  { offset, validator }: ResumePoint,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const canContinue = offset > 0 && validator !== undefined;
  const headers = {
    'accept-encoding': 'identity',
    'user-agent': 'stowage-disk-agent',
    ...(canContinue && { range: `bytes=${offset}-`, 'if-range': validator }),
  };
  const send: typeof requestHttp = url.protocol === 'https:' ? requestHttps : requestHttp;
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, { headers, signal, agent: false }, resolve);
    request.on('error', reject);
    request.end();
  });
  return withIdleLimit(answered, { clock, idleMaxMs, what: shown(url) }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof TransferError) throw error;
    throw new TransferError(`${shown(url)} can't be reached: ${messageOf(error)}`, {
      isPermanent: false,
      cause: error,
    });
  });
}

function streamOf(response: IncomingMessage, url: URL, { offset }: ResumePoint, clock: Clock): ByteStream {
  try {
    checkAddress(response, url);
    const { startsAt, totalBytes } = extentOf(response, url, offset);
    const chunks = readChunks(response, url, clock);
    const close = () => void response.destroy();
    return { startsAt, totalBytes, validator: validatorOf(response), chunks, close };
  } catch (error) {
    response.destroy();
    throw error;
  }
}

function checkAddress({ socket }: IncomingMessage, url: URL): void {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  if (address.startsWith('169.254.') || /^fe[89ab]/i.test(address))
    throw permanent(`${shown(url)} has the link-local address ${address}, which is refused`);
}

function extentOf(
  { statusCode = 0, headers }: IncomingMessage,
  url: URL,
  offset: number,
): Pick<ByteStream, 'startsAt' | 'totalBytes'> {
  if (statusCode === 200) return { startsAt: 0, totalBytes: lengthIn(headers['content-length']) };
  if (statusCode === 206) {
    const range = parseContentRange(headers['content-range']);
    if (range?.start === offset) return { startsAt: offset, totalBytes: range.totalBytes };
    throw permanent(`${shown(url)} returned a part that was not asked for`);
  }
  const isPermanent = statusCode < 500 && !retryableStatus.has(statusCode);
  throw new TransferError(`${shown(url)} answered with status ${statusCode}`, { isPermanent });
}

function lengthIn(header: string | undefined): number | undefined {
  const bytes = header === undefined ? Number.NaN : Number(header);
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined;
}

/** A weak ETag says that two versions are equal enough, but not that their bytes are the same. */
function validatorOf({ headers }: IncomingMessage): string | undefined {
  const { etag, 'last-modified': lastModified } = headers;
  const found = etag !== undefined && !etag.startsWith('W/') ? etag : lastModified;
  return found !== undefined && found.length <= 1024 ? found : undefined;
}

async function* readChunks(response: IncomingMessage, url: URL, clock: Clock): AsyncIterable<Uint8Array> {
  const iterator = response[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withIdleLimit(iterator.next(), { clock, idleMaxMs, what: shown(url) });
      if (next.done) return;
      yield next.value as Buffer;
    }
  } catch (error) {
    if (error instanceof TransferError) throw error;
    throw new TransferError(`${shown(url)} broke off: ${messageOf(error)}`, {
      isPermanent: false,
      cause: error,
    });
  } finally {
    response.destroy();
  }
}

/** Without credentials, and without a query, which may contain a signature. */
function shown({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

function permanent(message: string): TransferError {
  return new TransferError(message, { isPermanent: true });
}
