import { rounded } from '../harness.ts';
import { Connection } from './connection.ts';
import type { MeasuredServer } from './subject.ts';

const volumesPath = '/api/v1/persistentvolumes';

/** A typical pre-provisioned local volume, about 700 bytes. */
function volumeJson(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels: { 'kubernetes.io/hostname': 'node-1', media: 'ssd' } },
    spec: {
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      local: { path: `/mnt/disks/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }] },
          ],
        },
      },
    },
  });
}

export interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs a job many times by several writers in parallel, each on its own connection. */
export async function rateOf(
  subject: MeasuredServer,
  writers: number,
  count: number,
  job: (connection: Connection, index: number) => Promise<void>,
): Promise<Rate> {
  const connections = await Promise.all(Array.from({ length: writers }, () => Connection.open(subject)));
  const times = new Float64Array(count);
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let index = next++; index < count; index = next++) {
        const start = performance.now();
        await job(connection, index);
        times[index] = performance.now() - start;
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  for (const connection of connections) connection.close();
  times.sort();
  return {
    perSecond: Math.round(count / seconds),
    p50Ms: rounded(times[count >> 1] ?? 0),
    p99Ms: rounded(times[Math.floor(count * 0.99)] ?? 0),
  };
}

export function createVolume(prefix: string) {
  return async (connection: Connection, index: number): Promise<void> => {
    const { status, body } = await connection.request('POST', volumesPath, volumeJson(`${prefix}-${index}`));
    if (status !== 201) throw new Error(`a create failed with status ${status}: ${body.toString()}`);
  };
}

export function getVolume(prefix: string, known: number) {
  return async (connection: Connection, index: number): Promise<void> => {
    const { status } = await connection.request('GET', `${volumesPath}/${prefix}-${index % known}`);
    if (status !== 200) throw new Error(`a get failed with status ${status}`);
  };
}

export function patchVolume(prefix: string, known: number) {
  return async (connection: Connection, index: number): Promise<void> => {
    const path = `${volumesPath}/${prefix}-${index % known}`;
    const body = JSON.stringify({ metadata: { labels: { round: String(index) } } });
    const { status } = await connection.request('PATCH', path, body, 'application/merge-patch+json');
    if (status !== 200) throw new Error(`a patch failed with status ${status}`);
  };
}

/** Lists all volumes in one response. */
export async function listAll(
  subject: MeasuredServer,
): Promise<{ ms: number; mib: number; version: string }> {
  const connection = await Connection.open(subject);
  const begun = performance.now();
  const { status, body } = await connection.request('GET', volumesPath);
  const ms = performance.now() - begun;
  connection.close();
  if (status !== 200) throw new Error(`a list failed with status ${status}`);
  const [, version = ''] = /"resourceVersion":"(\d+)"/.exec(body.subarray(0, 500).toString()) ?? [];
  return { ms: rounded(ms), mib: rounded(body.length / 2 ** 20), version };
}

/** Lists all volumes in pages of 500, as clients do. */
export async function listPaged(subject: MeasuredServer): Promise<number> {
  const connection = await Connection.open(subject);
  const begun = performance.now();
  let token = '';
  do {
    const more = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
    const { status, body } = await connection.request('GET', `${volumesPath}?limit=500${more}`);
    if (status !== 200) throw new Error(`a page failed with status ${status}`);
    const [, next = ''] = /"continue":"([^"]+)"/.exec(body.subarray(0, 1000).toString()) ?? [];
    token = next;
  } while (token !== '');
  connection.close();
  return rounded(performance.now() - begun);
}

/** The time from opening a watch to the last initial object. */
export async function watchAll(subject: MeasuredServer, expected: number): Promise<number> {
  const begun = performance.now();
  const watcher = await Watcher.open(subject, '0');
  await watcher.sees(expected);
  watcher.close();
  return rounded(performance.now() - begun);
}

/** Events that many watchers receive while a few clients write: deliveries per second, in total. */
export async function fanOut(subject: MeasuredServer, watchers: number, writes: number): Promise<number> {
  const { version } = await listAll(subject);
  const open = await Promise.all(Array.from({ length: watchers }, () => Watcher.open(subject, version)));
  const begun = performance.now();
  await rateOf(subject, 8, writes, createVolume(`fan-${version}`));
  await Promise.all(open.map((watcher) => watcher.sees(writes)));
  const seconds = (performance.now() - begun) / 1000;
  for (const watcher of open) watcher.close();
  return Math.round((watchers * writes) / seconds);
}

/** Counts events without storing them. */
class Watcher {
  readonly #connection: Connection;
  #seen = 0;
  #wanted = Number.POSITIVE_INFINITY;
  #reached: () => void = () => {};

  private constructor(connection: Connection) {
    this.#connection = connection;
    void this.#count();
  }

  static async open(subject: MeasuredServer, version: string): Promise<Watcher> {
    const connection = await Connection.open(subject);
    connection.send('GET', `${volumesPath}?watch=true&resourceVersion=${version}`);
    return new Watcher(connection);
  }

  sees(wanted: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = wanted;
      this.#reached = resolve;
      if (this.#seen >= wanted) resolve();
    });
  }

  close(): void {
    this.#connection.close();
  }

  /** Events end with a newline. A newline of HTTP chunk framing, which may split an event anywhere, follows a carriage return. */
  async #count(): Promise<void> {
    const [carriageReturn, newline] = [13, 10];
    let before = 0;
    for await (const chunk of this.#connection.chunks()) {
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
        if ((at === 0 ? before : chunk[at - 1]) !== carriageReturn) this.#seen += 1;
      }
      before = chunk[chunk.length - 1] ?? before;
      if (this.#seen >= this.#wanted) this.#reached();
    }
  }
}
