import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ServerAccess } from './stowage-process.ts';

/**
 * A connection to the API server that answers for Leases itself: the process that uses it leads, whatever others do, as one does that has not
 * noticed that its Lease went to another one. It can also hold watches back.
 */
export class OwnLeaseProxy {
  readonly #access: ServerAccess;
  readonly #server: Server;
  readonly #leases = new Map<string, StoredLease>();
  readonly #held = new Set<IncomingMessage>();
  #version = 0;
  #isHolding = false;

  static async start(access: ServerAccess): Promise<OwnLeaseProxy> {
    const proxy = new OwnLeaseProxy(access);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => proxy.#close());
    return proxy;
  }

  private constructor(access: ServerAccess) {
    this.#access = access;
    this.#server = createServer((incoming, response) => void this.#answer(incoming, response));
  }

  /** JSON is YAML. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const named = { name: 'proxy' };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ ...named, user: {} }],
      contexts: [{ ...named, context: { cluster: 'proxy', user: 'proxy' } }],
      'current-context': 'proxy',
    });
  }

  /** Events of watches that are open or are opened wait until `release`. */
  hold(): void {
    this.#isHolding = true;
    for (const reply of this.#held) reply.pause();
  }

  release(): void {
    this.#isHolding = false;
    for (const reply of this.#held) reply.resume();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = incoming.url ?? '';
    if (url.includes('/leases')) await this.#answerLease(incoming, response);
    else this.#forward(incoming, response, url.includes('watch='));
  }

  async #answerLease(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    if (incoming.method === 'GET') {
      const lease = this.#leases.get(path.slice(path.lastIndexOf('/') + 1));
      if (lease !== undefined) reply(response, 200, lease);
      else reply(response, 404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
      return;
    }
    const lease = JSON.parse(text) as StoredLease;
    this.#version += 1;
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: `${this.#version}` } };
    this.#leases.set(lease.metadata.name, stored);
    reply(response, 200, stored);
  }

  #forward(incoming: IncomingMessage, response: ServerResponse, isWatch: boolean): void {
    const { method } = incoming;
    const { certificateAuthority: ca, url, token } = this.#access;
    // Clients send tokens over TLS only.
    const headers = { ...incoming.headers, host: new URL(url).host, authorization: `Bearer ${token}` };
    const upstream = request(new URL(incoming.url ?? '', url), { method, headers, ca }, (from) => {
      response.writeHead(from.statusCode ?? 502, from.headers);
      response.flushHeaders();
      if (isWatch) this.#track(from);
      from.on('data', (chunk) => response.write(chunk));
      from.on('end', () => response.end());
      from.on('error', () => response.destroy());
      if (isWatch && this.#isHolding) from.pause();
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  }

  #track(reply: IncomingMessage): void {
    this.#held.add(reply);
    reply.on('close', () => this.#held.delete(reply));
  }

  #close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface StoredLease {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
