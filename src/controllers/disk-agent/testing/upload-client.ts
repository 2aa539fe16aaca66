import { createHash } from 'node:crypto';
import { type RequestOptions, request } from 'node:https';

export interface UploadReply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface UploadCall {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The connection is closed after so many bytes of the body. */
  readonly breakAfter?: number;
}

/** Sends one request to an agent; undefined if the connection broke. */
export async function callAgent(url: string, call: UploadCall): Promise<UploadReply | undefined> {
  const { method, path, token, headers = {}, body, breakAfter } = call;
  const { hostname, port } = new URL(url);
  const options: RequestOptions = {
    hostname,
    port,
    path,
    method,
    rejectUnauthorized: false,
    agent: false,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-length': String(body.length) }),
      ...headers,
    },
  };
  return await new Promise((resolve) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: String(Buffer.concat(chunks)),
          headers: response.headers,
        }),
      );
    });
    sent.on('error', () => resolve(undefined));
    if (breakAfter === undefined) sent.end(body);
    else sent.write(body?.subarray(0, breakAfter), () => sent.destroy());
  });
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
