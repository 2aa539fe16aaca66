import type { HttpClient, Reply } from './http-client.ts';

/** Removes everything that a scenario created, so that the next scenario finds an unchanged server. */
export class Cleaner {
  readonly #client: HttpClient;
  /** Sorted by creation. A set, because steps may create an object again after they deleted it. */
  readonly #paths = new Set<string>();

  constructor(client: HttpClient) {
    this.#client = client;
  }

  async createNamespace(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${name}`;
    const create = async () => await this.#send('POST', '/api/v1/namespaces', { metadata: { name } });
    let reply = await create();
    if (reply.status === 409) {
      await this.#removeNamespace(path);
      reply = await create();
    }
    if (reply.status !== 201) throw new Error(`namespace ${name} could not be created: ${reply.text}`);
    this.#paths.add(path);
  }

  /** Records what a request created. */
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
    const deletion = await this.#send('DELETE', path, { gracePeriodSeconds: 0 });
    if (deletion.status === 404 || deletion.status === 405 || isGone(deletion)) return;
    // The deletion completes when the finalizers are removed from the object.
    await this.#send('PATCH', path, { metadata: { finalizers: null } });
  }

  async #removeNamespace(path: string): Promise<void> {
    if (/\/(default|kube-[a-z-]+)$/.test(path)) return;
    const { status } = await this.#send('DELETE', path);
    if (status === 404) return;
    const { text } = await this.#send('GET', path);
    const namespace = JSON.parse(text) as { metadata: { readonly finalizers?: readonly string[] } };
    await this.#send('PUT', `${path}/finalize`, { ...namespace, spec: { finalizers: [] } });
    if (namespace.metadata.finalizers === undefined) return;
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

/** A server answers with a status instead of the object when the deletion is complete. */
function isGone({ status, text }: Reply): boolean {
  return status === 200 && (JSON.parse(text) as { readonly kind?: string }).kind === 'Status';
}
