import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { ServerAccess } from './stowage-process.ts';

export interface ApiObject {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly metadata: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly ApiObject[];
}

export interface ApiReply {
  readonly status: number;
  readonly text: string;
  readonly body: ApiObject;
}

export interface ApiCallOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  /** Undefined uses the token of the kubeconfig; an empty string sends none. */
  readonly token?: string;
}

/** HTTPS with the certificate and the token of the kubeconfig, without retries or other logic. */
export class ApiClient {
  readonly #access: ServerAccess;
  readonly #agent: Agent;

  constructor(access: ServerAccess) {
    this.#access = access;
    this.#agent = new Agent({ keepAlive: true, ca: access.certificateAuthority });
  }

  async call(method: string, path: string, options: ApiCallOptions = {}): Promise<ApiReply> {
    const response = await this.#send(method, path, options);
    const text = await textOf(response);
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    return { status: response.statusCode ?? 0, text, body: isJson ? JSON.parse(text) : { metadata: {} } };
  }

  async watch(path: string): Promise<IncomingMessage> {
    return await this.#send('GET', path, {});
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, options: ApiCallOptions): Promise<IncomingMessage> {
    const { body, contentType = 'application/json', token = this.#access.token } = options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const wanted: RequestOptions = {
      method,
      agent: this.#agent,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        // Node sends no length for the body of a DELETE by itself.
        ...(text === undefined
          ? {}
          : { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }),
      },
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#access.url), wanted, resolve);
      sent.on('error', reject);
      sent.end(text);
    });
  }
}

function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk) => {
      text += chunk;
    });
    response.on('error', reject);
    response.on('end', () => resolve(text));
  });
}

/** Reads a stream to its end, or until it breaks. */
export async function wholeStream(response: IncomingMessage): Promise<{ text: string; isComplete: boolean }> {
  let text = '';
  response.on('data', (chunk) => {
    text += chunk;
  });
  // 'close' follows, and `complete` shows how the stream ended.
  response.on('error', () => {});
  await new Promise((resolve) => response.once('close', resolve));
  return { text, isComplete: response.complete };
}
