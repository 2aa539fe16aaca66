import { setTimeout as sleep } from 'node:timers/promises';
import { Cleaner } from './cleaner.ts';
import { HttpClient, type Reply, type ServerAddress } from './http-client.ts';
import { Mask } from './mask.ts';
import { fill, mergePatch } from './placeholders.ts';
import type { Answer, Scenario, Step } from './scenario.ts';

const untilTriesMax = 200;
const untilPauseMs = 50;

export interface PlayOptions {
  /** How long the caches of the server may lag behind its store; 0 for a server without caches. */
  readonly settleMs?: number;
}

/** Runs a scenario on a server and removes what it created. Returns one masked answer per step. */
export async function play(
  server: ServerAddress,
  scenario: Scenario,
  { settleMs = 0 }: PlayOptions = {},
): Promise<readonly Answer[]> {
  const client = new HttpClient(server);
  const cleaner = new Cleaner(client);
  const namespace = namespaceOf(scenario);
  try {
    await cleaner.createNamespace(namespace);
    return await new Player(client, cleaner, namespace, settleMs).play(scenario.steps);
  } finally {
    await cleaner.clean();
    client.close();
  }
}

export function namespaceOf({ name }: Scenario): string {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `f-${slug}`.slice(0, 50).replace(/-+$/, '');
}

class Player {
  readonly #client: HttpClient;
  readonly #cleaner: Cleaner;
  readonly #settleMs: number;
  readonly #mask = new Mask();
  readonly #known: Map<string, unknown>;
  readonly #answers: Answer[] = [];

  constructor(client: HttpClient, cleaner: Cleaner, namespace: string, settleMs: number) {
    this.#client = client;
    this.#cleaner = cleaner;
    this.#settleMs = settleMs;
    this.#known = new Map([['ns', namespace]]);
  }

  async play(steps: readonly Step[]): Promise<readonly Answer[]> {
    for (const group of watchesTogether(steps)) {
      const replies = await Promise.all(group.map((step) => this.#sendUntil(step)));
      for (const [i, reply] of replies.entries()) this.#note(group[i] as Step, reply);
    }
    return this.#answers;
  }

  async #sendUntil(step: Step): Promise<Reply> {
    let reply = await this.#send(step);
    for (let tries = 0; step.until !== undefined && !reply.text.includes(step.until); tries += 1) {
      if (tries === untilTriesMax) return reply;
      await sleep(untilPauseMs);
      reply = await this.#send(step);
    }
    return reply;
  }

  async #send(step: Step): Promise<Reply> {
    if (step.settle && this.#settleMs > 0) await sleep(this.#settleMs);
    const filled = fill(step, this.#known);
    const body = bodyOf(filled, step.from === undefined ? undefined : this.#known.get(step.from));
    const headers = {
      ...(step.accept === undefined ? {} : { accept: step.accept }),
      ...(body === undefined ? {} : { 'content-type': step.type ?? 'application/json' }),
      ...filled.headers,
    };
    const { generateName } =
      (filled.body as { metadata?: { generateName?: string } } | undefined)?.metadata ?? {};
    if (generateName !== undefined) this.#mask.noteGenerateName(generateName);
    const reply = await this.#client.call({ method: step.method, path: filled.path, headers, body });
    this.#cleaner.note(step.method, filled.path, reply);
    return reply;
  }

  #note(step: Step, reply: Reply): void {
    if (step.as !== undefined) this.#known.set(step.as, JSON.parse(reply.text));
    this.#answers.push(this.#mask.answer(reply, this.#answers.length, step.form ?? 'everything'));
  }
}

/** Groups consecutive watches: they run until their timeouts, so they run in parallel. */
function watchesTogether(steps: readonly Step[]): readonly (readonly Step[])[] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (isWatch(step) && last?.[0] !== undefined && isWatch(last[0])) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

function isWatch({ path }: Step): boolean {
  return /[?&]timeoutSeconds=/.test(path);
}

function bodyOf({ body, base64 }: Step, base: unknown): Buffer | undefined {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  if (base !== undefined) return Buffer.from(JSON.stringify(mergePatch(base, body ?? {})));
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
