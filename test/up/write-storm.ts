import { createHash } from 'node:crypto';
import type { Random } from '../../src/runtime/random.ts';
import type { ApiClient, ApiObject, ApiReply } from './api-client.ts';

export const configMaps = '/api/v1/namespaces/default/configmaps';

/** The state of an object: absent, or the content of one write. */
export interface Content {
  readonly serial: number;
  readonly payload: string;
}

export type State = Content | 'absent';

/** What one writer knows about its own objects; no other client writes to them. */
export interface WriterMemory {
  /** As of the last acknowledged write. */
  readonly known: Map<string, { readonly state: State; readonly version: string }>;
  /** A write without a response: it may have happened or not. */
  pending: { readonly name: string; readonly state: State } | undefined;
  acknowledgedCount: number;
}

export function newMemory(): WriterMemory {
  return { known: new Map(), pending: undefined, acknowledgedCount: 0 };
}

/** Creates, replaces, patches and deletes objects, one after another, until the connection breaks. */
export async function writeUntilCut(
  writer: string,
  memory: WriterMemory,
  client: ApiClient,
  random: Random,
): Promise<void> {
  for (;;) {
    const name = `${writer}-${random.int(6)}`;
    const before = memory.known.get(name)?.state ?? 'absent';
    const write = nextWrite(name, before, memory.known.get(name)?.version, random);
    memory.pending = { name, state: write.after };
    let reply: ApiReply;
    try {
      reply = await client.call(write.method, write.path, write);
    } catch {
      return;
    }
    if (reply.status >= 300) throw new Error(`${write.method} ${write.path}: ${reply.text}`);
    const version = reply.body.metadata.resourceVersion ?? '';
    memory.known.set(name, { state: write.after, version });
    memory.pending = undefined;
    memory.acknowledgedCount += 1;
  }
}

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly after: State;
}

let serial = 0;

function nextWrite(name: string, before: State, version: string | undefined, random: Random): Write {
  serial += 1;
  const payload = `${serial}`.padEnd(random.int(20) === 0 ? 100_000 : 1 + random.int(4_000), 'x');
  const after = { serial, payload };
  const path = `${configMaps}/${name}`;
  if (before === 'absent') return { method: 'POST', path: configMaps, body: objectOf(name, after), after };
  switch (random.int(4)) {
    case 0:
      return { method: 'DELETE', path, after: 'absent' };
    case 1:
      return { method: 'PUT', path, body: objectOf(name, after, version), after };
    default: {
      const contentType = `application/${random.int(2) === 0 ? 'merge' : 'strategic-merge'}-patch+json`;
      return { method: 'PATCH', path, body: objectOf(name, after), contentType, after };
    }
  }
}

function objectOf(name: string, { serial, payload }: Content, resourceVersion?: string): object {
  const annotations = { serial: `${serial}`, checksum: checksumOf(payload) };
  return {
    metadata: { name, annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data: { payload },
  };
}

/** Whether the object is the result of exactly one write. */
export function isWhole({ metadata, data }: ApiObject): boolean {
  const payload = data?.payload ?? '';
  const { serial, checksum } = metadata.annotations ?? {};
  return checksum === checksumOf(payload) && payload.replace(/x*$/, '') === serial;
}

export function stateOf({ metadata, data }: ApiObject): State {
  return { serial: Number(metadata.annotations?.serial), payload: data?.payload ?? '' };
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
