import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pod } from '../../../src/kube/api/core.ts';

interface FilterArguments {
  readonly Pod?: Pod;
  readonly NodeNames?: readonly string[];
}

/**
 * kube-scheduler calls this extender last, with the nodes that passed all its own filters. The extender records the nodes and returns an
 * error, so that the pod is neither reserved nor bound, and nothing in the cluster changes.
 */
export class RecordingExtender {
  readonly #server: Server;
  readonly #listeners = new Map<string, (nodes: readonly string[]) => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        this.#record(JSON.parse(Buffer.concat(parts).toString()) as FilterArguments);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ Error: 'it fits, and that was the question' }));
      });
    });
  }

  static async start(): Promise<RecordingExtender> {
    const extender = new RecordingExtender();
    await new Promise<void>((resolve) => extender.#server.listen(0, '127.0.0.1', resolve));
    return extender;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves with the nodes that fit; never resolves if no node fits. */
  async nodesFor(uid: string, signal: AbortSignal): Promise<readonly string[]> {
    return await new Promise((resolve) => {
      this.#listeners.set(uid, resolve);
      signal.addEventListener('abort', () => this.#listeners.delete(uid));
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #record({ Pod: pod, NodeNames: names }: FilterArguments): void {
    this.#listeners.get(pod?.metadata?.name ?? '')?.(names ?? []);
  }
}
