import { connect, type TLSSocket } from 'node:tls';
import type { MeasuredServer } from './subject.ts';

export interface HttpResponse {
  readonly status: number;
  readonly body: Buffer;
}

const lastChunk = Buffer.from('0\r\n\r\n');

/**
 * One keep-alive connection that sends a request and reads the response, with minimal overhead: it shares two cores with the measured
 * server. It understands only the responses of API servers.
 */
export class Connection {
  readonly #socket: TLSSocket;
  readonly #head: string;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #wake: (() => void) | undefined;
  #isEnded = false;

  private constructor(socket: TLSSocket, head: string) {
    this.#socket = socket;
    this.#head = head;
    socket.on('data', (chunk: Buffer) => {
      this.#received.push(chunk);
      this.#receivedBytes += chunk.length;
      this.#wake?.();
    });
    socket.on('close', () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    socket.on('error', () => {});
  }

  static async open({ host, port, authority, token }: MeasuredServer): Promise<Connection> {
    const socket = connect({
      host,
      port,
      ...(authority === undefined ? { rejectUnauthorized: false } : { ca: authority }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
    });
    socket.setNoDelay(true);
    const head = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n`;
    return new Connection(socket, head);
  }

  async request(
    method: string,
    path: string,
    body = '',
    contentType = 'application/json',
  ): Promise<HttpResponse> {
    this.send(method, path, body, contentType);
    const head = await this.#readHead();
    const status = Number(head.slice(9, 12));
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    const content = length === undefined ? await this.#readChunked() : await this.#readBytes(Number(length));
    return { status, body: content };
  }

  /** Sends without waiting for the response, for watches; `chunks` yields their lines. */
  send(method: string, path: string, body = '', contentType = 'application/json'): void {
    const length = Buffer.byteLength(body);
    const entity = body === '' ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${length}\r\n`;
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#head}${entity}\r\n${body}`);
  }

  /** Yields data as it arrives. */
  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunks = this.#received;
      this.#keep(Buffer.alloc(0));
      yield* chunks;
      // More data may have arrived while the reader was busy.
      if (this.#received.length > 0) continue;
      if (this.#isEnded) return;
      await this.#more();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #readHead(): Promise<string> {
    for (;;) {
      const all = this.#joined();
      const end = all.indexOf('\r\n\r\n');
      if (end >= 0) {
        this.#keep(all.subarray(end + 4));
        return all.subarray(0, end).toString('latin1');
      }
      await this.#more();
    }
  }

  async #readBytes(count: number): Promise<Buffer> {
    while (this.#receivedBytes < count) await this.#more();
    const all = this.#joined();
    this.#keep(all.subarray(count));
    return all.subarray(0, count);
  }

  /** The server sends nothing after the response, so the response ends with the last chunk. */
  async #readChunked(): Promise<Buffer> {
    while (!this.#endsWith(lastChunk)) await this.#more();
    const all = this.#joined();
    this.#keep(Buffer.alloc(0));
    const parts: Buffer[] = [];
    for (let at = 0; ; ) {
      const lineEnd = all.indexOf('\r\n', at);
      const size = Number.parseInt(all.toString('latin1', at, lineEnd), 16);
      if (size === 0) return Buffer.concat(parts);
      parts.push(all.subarray(lineEnd + 2, lineEnd + 2 + size));
      at = lineEnd + 2 + size + 2;
    }
  }

  #endsWith(end: Buffer): boolean {
    const last = this.#received.at(-1) ?? end.subarray(0, 0);
    const tail = last.length >= end.length ? last : this.#joined();
    return tail.subarray(-end.length).equals(end);
  }

  #keep(rest: Buffer): void {
    this.#received = rest.length === 0 ? [] : [rest];
    this.#receivedBytes = rest.length;
  }

  #joined(): Buffer {
    const all = this.#received.length === 1 ? (this.#received[0] as Buffer) : Buffer.concat(this.#received);
    this.#received = [all];
    return all;
  }

  async #more(): Promise<void> {
    if (this.#isEnded) throw new Error('the server closed the connection');
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
