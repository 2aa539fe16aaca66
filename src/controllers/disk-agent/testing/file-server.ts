import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface FileServerOptions {
  readonly data: Buffer;
  /** After so many bytes of a response, the connection breaks; one entry for each request, none at the end. */
  readonly breaks?: readonly number[];
  readonly etag?: string;
  /** Answers a request instead of the file, if it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** An HTTP server with one file, which continues at Range requests, and may break off. */
export class FileServer {
  readonly url: string;
  /** `Range` headers of the requests; empty without one. */
  readonly ranges: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  data: Buffer;
  etag: string;

  private constructor(url: string, { data, etag = '"1"' }: FileServerOptions) {
    this.url = url;
    this.data = data;
    this.etag = etag;
  }

  static async start(options: FileServerOptions): Promise<FileServer> {
    const breaks = [...(options.breaks ?? [])];
    const server = createServer((request, response) => {
      if (options.answer?.(request, response)) return;
      fileServer.#send(request, response, breaks.shift());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const fileServer = new FileServer(`http://127.0.0.1:${port}/image`, options);
    return fileServer;
  }

  #send(request: IncomingMessage, response: ServerResponse, breakAfter: number | undefined): void {
    const { range = '', 'if-range': ifRange } = request.headers;
    this.ranges.push(range);
    this.headers.push(request.headers);
    const isPart = range !== '' && ifRange === this.etag;
    const start = isPart ? Number(/^bytes=(\d+)-$/.exec(range)?.[1]) : 0;
    const body = this.data.subarray(start);
    response.writeHead(isPart ? 206 : 200, {
      etag: this.etag,
      'content-length': body.length,
      ...(isPart && { 'content-range': `bytes ${start}-${this.data.length - 1}/${this.data.length}` }),
    });
    if (breakAfter === undefined) response.end(body);
    else response.write(body.subarray(0, breakAfter), () => response.destroy());
  }
}
