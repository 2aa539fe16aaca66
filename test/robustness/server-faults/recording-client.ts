import type { Random } from '../../../src/runtime/random.ts';
import type { ApiClient, ApiReply } from '../../up/api-client.ts';
import type { Call, Operation, Outcome } from '../linearizability/history.ts';
import { configMaps, isOurs, itemOf, nowMs, objectOf, type Recorder } from './recorder.ts';

/** Few objects, so that clients compete for each. */
const objectCount = 6;

/** Draws operations, performs them one after the other, and records them with their outcomes. */
export class RecordingClient {
  readonly #name: string;
  readonly #recorder: Recorder;
  readonly #random: Random;
  /** The newest version of each object that this client has seen. */
  readonly #seen = new Map<string, number>();

  constructor(name: string, recorder: Recorder, random: Random) {
    this.#name = name;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** Until the connection breaks or the signal aborts. `ended` resolves when the server process has ended. */
  async run(api: ApiClient, ended: Promise<unknown>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const operation = await this.perform(api, this.#draw(), ended);
      if (operation.outcome.type === 'unknown') return;
    }
  }

  async perform(
    api: ApiClient,
    call: Call,
    ended: Promise<unknown>,
    length = this.#random.int(15) === 0 ? 60_000 : this.#random.int(4_000),
  ): Promise<Operation> {
    const startMs = nowMs();
    let outcome: Outcome = { type: 'unknown' };
    try {
      outcome = outcomeOf(call, await this.#send(api, call, length));
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
      // Until then the server may still carry it out.
      await ended;
    }
    const operation = { client: this.#name, call, startMs, endMs: nowMs(), outcome };
    this.#remember(operation);
    this.#recorder.operations.push(operation);
    return operation;
  }

  #remember({ call, outcome }: Operation): void {
    if (!('name' in call) || !('version' in outcome) || outcome.version === undefined) return;
    this.#seen.set(call.name, outcome.version);
  }

  #draw(): Call {
    const random = this.#random;
    const name = `object-${random.int(objectCount)}`;
    const seen = this.#seen.get(name);
    const replaces = random.int(3) === 0 ? undefined : seen;
    const value = this.#recorder.nextValue();
    const kind = random.int(20);
    if (kind < 5) return { verb: 'create', name, value };
    if (kind < 12) return { verb: 'update', name, value, replaces };
    if (kind < 15) return { verb: 'delete', name, replaces };
    if (kind < 18) return { verb: 'get', name };
    if (kind === 18 && seen !== undefined) return { verb: 'list', at: random.int(2) === 0 ? 'any' : seen };
    return { verb: 'list' };
  }

  #send(api: ApiClient, call: Call, length: number): Promise<ApiReply> {
    switch (call.verb) {
      case 'create':
        return api.call('POST', configMaps, { body: objectOf(call.name, call.value, length) });
      case 'update':
        return this.#update(api, call, length);
      case 'delete':
        return api.call('DELETE', `${configMaps}/${call.name}`, {
          ...(call.replaces === undefined
            ? {}
            : { body: { preconditions: { resourceVersion: `${call.replaces}` } } }),
        });
      case 'get':
        return api.call('GET', `${configMaps}/${call.name}`);
      case 'list':
        return api.call('GET', `${configMaps}${listQuery(call.at)}`);
    }
  }

  /** A replacement or a patch: both store all of the object's contents. */
  #update(api: ApiClient, call: Extract<Call, { verb: 'update' }>, length: number): Promise<ApiReply> {
    const path = `${configMaps}/${call.name}`;
    const body = objectOf(call.name, call.value, length, call.replaces);
    if (this.#random.int(2) === 0) return api.call('PUT', path, { body });
    return api.call('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  }
}

function listQuery(at: number | 'any' | undefined): string {
  if (at === undefined) return '';
  return at === 'any' ? '?resourceVersion=0' : `?resourceVersion=${at}&resourceVersionMatch=Exact`;
}

function outcomeOf(call: Call, { status, body, text }: ApiReply): Outcome {
  if (status === 507) return { type: 'refused' };
  if (status === 404) return { type: 'not found' };
  if (status === 409) return { type: body.reason === 'AlreadyExists' ? 'already exists' : 'conflict' };
  // A list at a version that the server has forgotten.
  if (status === 410 && call.verb === 'list') return { type: 'refused' };
  if (status === 500 && body.message?.includes('the change was not stored')) return { type: 'refused' };
  if (status >= 300) throw new Error(`${JSON.stringify(call)}: ${status} ${text}`);
  if (call.verb === 'delete') return { type: 'written' };
  const { version, value } = itemOf(body);
  if (call.verb === 'list')
    return { type: 'listed', version, items: (body.items ?? []).filter(isOurs).map(itemOf) };
  return call.verb === 'get' ? { type: 'found', version, value } : { type: 'written', version };
}

/** Errors of the system have a code; all others are bugs of this test or of the server. */
function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^E[A-Z]+$/.test(error.code)
  );
}
