import type { HttpClient, Reply } from './http-client.ts';

/** Removes what a scenario made, so that the next one finds the server as if it were new. */
export class Cleaner {
  readonly #client: HttpClient;
  /** In the order of their creation; a set, since steps create again what they deleted. */
  readonly #paths = new Set<string>();

  constructor(client: HttpClient) {
    this.#client = client;
  }

  async createNamespace(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${name}`;
    await this.#removeNamespace(path);
    const { status, text } = await this.#send('POST', '/api/v1/namespaces', { metadata: { name } });
    if (status !== 201) throw new Error(`namespace ${name} cannot be made: ${text}`);
    this.#paths.add(path);
  }

  /** Remembers what a request created. */
  note(method: string, path: string, { status, text }: Reply): void {
    if (status !== 201) return;
    const plain = path.replace(/[?#].*/, '').replace(/\/$/, '');
    if (method !== 'POST') this.#paths.add(plain);
    if (method !== 'POST') return;
    const made = JSON.parse(text) as {
      readonly kind?: string;
      readonly metadata?: { readonly name?: string };
    };
    if (made.metadata?.name !== undefined && made.kind !== 'Status')
      this.#paths.add(`${plain}/${made.metadata.name}`);
  }

  async clean(): Promise<void> {
    for (const path of [...this.#paths].reverse()) {
      if (/^\/api\/v1\/namespaces\/[^/]+$/.test(path)) await this.#removeNamespace(path);
      else await this.#remove(path);
    }
  }

  async #remove(path: string): Promise<void> {
    // Removing goes on when finalizers are taken away from what is being deleted.
    const { status } = await this.#send('DELETE', path, { gracePeriodSeconds: 0 });
    if (status === 404 || status === 405) return;
    await this.#send('PATCH', path, { metadata: { finalizers: null } });
  }

  async #removeNamespace(path: string): Promise<void> {
    if (/\/(default|kube-[a-z-]+)$/.test(path)) return;
    const { status } = await this.#send('DELETE', path);
    if (status === 404) return;
    const { text } = await this.#send('GET', path);
    const namespace = JSON.parse(text) as { metadata: object };
    await this.#send('PUT', `${path}/finalize`, { ...namespace, spec: { finalizers: [] } });
    await this.#send('PATCH', path, { metadata: { finalizers: null } });
  }

  async #send(method: string, path: string, body?: unknown): Promise<Reply> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return await this.#client.call({
      method,
      path,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': type }) },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    });
  }
}
