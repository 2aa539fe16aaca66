import type { Agent } from 'node:https';
import type { Random } from '../../../src/runtime/random.ts';
import { type AttackedAccess, type AttackReply, call } from './attacked-server.ts';

export interface StormWriterOptions {
  readonly name: string;
  readonly access: AttackedAccess;
  readonly agent: Agent;
  readonly namespaces: readonly string[];
  readonly random: Random;
}

type Plural = 'configmaps' | 'pods';

interface Owned {
  readonly plural: Plural;
  readonly path: string;
}

export const tiers = ['a', 'b', 'c'];
export const phases = ['Pending', 'Running', 'Succeeded'];

/** Creates, updates and deletes its own objects at random. */
export class StormWriter {
  readonly #options: StormWriterOptions;
  readonly #owned: Owned[] = [];
  #made = 0;

  constructor(options: StormWriterOptions) {
    this.#options = options;
  }

  async write(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1) await this.#writeOne();
  }

  async #writeOne(): Promise<void> {
    const { random } = this.#options;
    if (this.#owned.length < 5) return await this.#create();
    const draw = random.next();
    if (draw < 0.3) await this.#create();
    else if (draw < 0.55) await this.#delete();
    else await this.#change(random.pick(this.#owned));
  }

  async #create(): Promise<void> {
    const { random, namespaces, name } = this.#options;
    const plural = random.pick(['configmaps', 'configmaps', 'pods'] as const);
    const collection = `/api/v1/namespaces/${random.pick(namespaces)}/${plural}`;
    this.#made += 1;
    const metadata = { name: `${name}-${this.#made}`, labels: { tier: random.pick(tiers) } };
    const spec = { containers: [{ name: 'c', image: 'x' }] };
    await this.#send(
      'POST',
      collection,
      plural === 'pods' ? { metadata, spec } : { metadata, data: { n: '0' } },
    );
    this.#owned.push({ plural, path: `${collection}/${metadata.name}` });
  }

  async #change({ plural, path }: Owned): Promise<void> {
    const { random } = this.#options;
    const draw = random.next();
    if (draw < 0.4) await this.#patch(path, { metadata: { labels: { tier: random.pick(tiers) } } });
    else if (plural === 'pods')
      await this.#patch(`${path}/status`, { status: { phase: random.pick(phases) } });
    else await this.#patch(path, { data: { n: String(random.int(1_000)) } });
  }

  async #delete(): Promise<void> {
    const [gone] = this.#owned.splice(this.#options.random.int(this.#owned.length), 1);
    await this.#send('DELETE', `${gone?.path}?gracePeriodSeconds=0`);
  }

  async #patch(path: string, body: object): Promise<void> {
    await this.#send('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
  }

  async #send(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AttackReply> {
    const { access, agent } = this.#options;
    const options = { headers, ...(body === undefined ? {} : { body }) };
    const reply = await call({ access, agent, method, path, options });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  }
}
