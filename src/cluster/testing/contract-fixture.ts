import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../../kube/api-requests.ts';
import { namespaces } from '../../kube/resources.ts';
import type { Cluster, ResourceClient } from '../cluster.ts';

/** A cluster under test. Tests share it, so each uses its own namespace and names. */
export interface ContractFixture {
  readonly cluster: Cluster;
  close(): Promise<void>;
}

let counter = 0;

/** A name that was not used before, in this run or an earlier one. */
export function freshName(stem: string): string {
  counter += 1;
  return `${stem}-${process.pid.toString(36)}-${performance.timeOrigin.toString(36).slice(-8).replace('.', '')}-${counter}`;
}

export async function freshNamespace({ cluster }: ContractFixture): Promise<string> {
  const name = freshName('contract');
  await cluster.resource(namespaces).create({ metadata: { name } });
  return name;
}

/** The error of a call that must fail. */
export async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the call was expected to fail');
}

export function aPod(namespace: string, name: string, spec: Pod['spec'] = {}): Pod {
  return {
    metadata: { namespace, name },
    spec: { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }], ...spec },
  };
}

export function aClaim(
  namespace: string,
  name: string,
  spec: PersistentVolumeClaim['spec'] = {},
): PersistentVolumeClaim {
  return {
    metadata: { namespace, name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      ...spec,
    },
  };
}

export function aVolume(name: string, spec: PersistentVolume['spec'] = {}): PersistentVolume {
  return {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/mnt/disks/ssd1' },
      ...spec,
    },
  };
}

/** Reads a watch, one event at a time. */
export class EventReader<T extends KubeObject> implements AsyncDisposable {
  readonly #abort = new AbortController();
  readonly #events: AsyncIterator<WatchEvent<T>>;

  constructor(client: ResourceClient<T>, options: Omit<WatchOptions, 'signal'>) {
    const watch = client.watch({ ...options, signal: this.#abort.signal });
    this.#events = watch[Symbol.asyncIterator]();
  }

  async next(): Promise<WatchEvent<T>> {
    const { value, done } = await this.#events.next();
    if (done === true) throw new Error('the watch ended');
    return value;
  }

  /** The next event that is not a bookmark, as `TYPE name`. */
  async nextChange(): Promise<string> {
    for (;;) {
      const event = await this.next();
      if (event.type !== 'BOOKMARK') return `${event.type} ${event.object.metadata?.name}`;
    }
  }

  async changes(count: number): Promise<readonly string[]> {
    const changes: string[] = [];
    while (changes.length < count) changes.push(await this.nextChange());
    return changes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#events.return?.();
  }
}
