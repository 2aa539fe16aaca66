import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { ServedCluster } from './served-cluster.ts';

export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly code?: number;
    readonly reason?: string;
    readonly columnDefinitions?: readonly unknown[] | null;
    readonly rows?: readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];
    readonly metadata?: {
      readonly name?: string;
      readonly resourceVersion?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
  };
}

/** Reads a watch line by line. */
export class WatchClient {
  readonly #sent: ClientRequest;
  readonly #lines: WatchLine[] = [];
  readonly #waiting: (() => void)[] = [];
  #rest = '';
  #response: IncomingMessage | undefined;
  isEnded = false;
  /** Whether the response was complete. */
  isComplete = false;

  private constructor(sent: ClientRequest) {
    this.#sent = sent;
  }

  static async open(cluster: ServedCluster, path: string, accept = 'application/json'): Promise<WatchClient> {
    const { hostname, port } = new URL(cluster.server.url);
    const headers = { authorization: `Bearer ${cluster.credentials.token}`, accept };
    const sent = request({
      hostname,
      port,
      path,
      headers,
      ca: cluster.credentials.certificate,
      agent: false,
    });
    const client = new WatchClient(sent);
    sent.on('error', () => client.#end(false));
    sent.end();
    await new Promise<void>((resolve) =>
      sent.once('response', (response) => resolve(client.#attach(response))),
    );
    return client;
  }

  get status(): number {
    return this.#response?.statusCode ?? 0;
  }

  /** The next lines; fewer if the watch ends earlier. */
  async take(count: number): Promise<readonly WatchLine[]> {
    while (this.#lines.length < count && !this.isEnded) await this.#moreLines();
    return this.#lines.splice(0, count);
  }

  async ended(): Promise<readonly WatchLine[]> {
    return await this.take(Number.POSITIVE_INFINITY);
  }

  pause(): void {
    this.#response?.pause();
  }

  close(): void {
    this.#sent.destroy();
  }

  #attach(response: IncomingMessage): void {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#lines.push(JSON.parse(line) as WatchLine);
      this.#wake();
    });
    response.on('error', () => this.#end(false));
    response.on('close', () => this.#end(response.complete));
  }

  #end(isComplete: boolean): void {
    this.isComplete ||= isComplete;
    this.isEnded = true;
    this.#wake();
  }

  #moreLines(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
