import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { accessIn, type ServerAccess } from '../../up/stowage-process.ts';

/** A write of the binding of a pod with volumes: to a PV, to a claim, or the pod's binding. */
export interface InterceptedWrite {
  /** Examples: `persistentvolumes/d1`, `pods/web/binding`. */
  readonly target: string;
  readonly namespace: string | undefined;
  /** Sends the write to the server, at any time, and returns the response. */
  deliver(): Promise<ProxiedResponse>;
  /** Sends a response to the client. */
  answer(answer: ProxiedResponse): void;
  /** Closes the connection to the client without a response. */
  disconnect(): void;
}

export interface ProxiedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Decides what happens to a write. */
export type WriteHandler = (write: InterceptedWrite) => Promise<void>;

const pass: WriteHandler = async (write) => write.answer(await write.deliver());

/**
 * A proxy between one client and an API server. It handles the writes of bindings one after another, so that all earlier writes have
 * arrived when the next one is handled, and passes each to the handler of the test. Everything else is forwarded.
 */
export class WriteProxy {
  /** The targets of the writes so far. */
  readonly writes: string[] = [];
  readonly #access: ServerAccess;
  readonly #onWrite: WriteHandler;
  readonly #agent: Agent;
  readonly #server: Server;
  #last: Promise<void> = Promise.resolve();
  #isCut = false;

  private constructor(access: ServerAccess, onWrite: WriteHandler) {
    this.#access = access;
    this.#onWrite = onWrite;
    this.#agent = new Agent({ ca: access.certificateAuthority, keepAlive: true });
    this.#server = createServer((incoming, response) => void this.#handle(incoming, response));
  }

  static async open(kubeconfig: string, onWrite: WriteHandler = pass): Promise<WriteProxy> {
    const proxy = new WriteProxy(accessIn(readFileSync(kubeconfig, 'utf8')), onWrite);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops forwarding in both directions, so that the client is dead for the server. Delivered writes stay delivered. */
  cut(): void {
    this.#isCut = true;
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Call it after `cut`, when no write remains to be delivered. */
  close(): void {
    if (!this.#isCut) this.cut();
    this.#agent.destroy();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const body = await readAll(incoming).catch(() => undefined);
    // The client disconnected while sending.
    if (body === undefined) return;
    const target = writeTargetOf(incoming);
    if (target === undefined) this.#relay(incoming, body, response);
    else this.#enqueue({ ...target, ...this.#actions(incoming, body, response) });
  }

  #enqueue(write: InterceptedWrite): void {
    this.#last = this.#last.then(async () => {
      if (this.#isCut) return;
      this.writes.push(write.target);
      await this.#onWrite(write).catch(() => write.disconnect());
    });
  }

  #actions(incoming: IncomingMessage, body: Buffer, response: ServerResponse) {
    return {
      deliver: async () => await this.#deliver(incoming, body),
      answer: ({ status, headers, body: said }: ProxiedResponse) => {
        if (!response.destroyed) response.writeHead(status, headers).end(said);
      },
      disconnect: () => void response.destroy(),
    };
  }

  /** Forwards reads and watches as they arrive; they end when either side ends. */
  #relay(incoming: IncomingMessage, body: Buffer, response: ServerResponse): void {
    if (this.#isCut) return;
    const upstream = this.#sendUpstream(incoming, body, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
  }

  async #deliver(incoming: IncomingMessage, body: Buffer): Promise<ProxiedResponse> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      this.#sendUpstream(incoming, body, resolve).once('error', reject);
    });
    const { statusCode: status = 0, headers } = answer;
    return { status, headers, body: await readAll(answer) };
  }

  #sendUpstream(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    onAnswer: (answer: IncomingMessage) => void,
  ) {
    const target = new URL(url ?? '/', this.#access.url);
    const given = { ...headers, host: target.host, authorization: `Bearer ${this.#access.token}` };
    const upstream = request(target, { method, headers: given, agent: this.#agent }, onAnswer);
    upstream.end(body);
    return upstream;
  }
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function writeTargetOf({
  method,
  url = '',
}: IncomingMessage): Pick<InterceptedWrite, 'target' | 'namespace'> | undefined {
  const [path = ''] = url.split('?', 1);
  const [, namespace, target = ''] = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?(.+)$/.exec(path) ?? [];
  const isVolume = method === 'PATCH' && /^persistentvolume(s|claims)\/[^/]+$/.test(target);
  const isBinding = method === 'POST' && /^pods\/[^/]+\/binding$/.test(target);
  return isVolume || isBinding ? { target, namespace } : undefined;
}
