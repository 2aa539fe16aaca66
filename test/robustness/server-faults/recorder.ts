import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { ApiObject } from '../../up/api-client.ts';
import type { Item, Operation, WatchStream } from '../linearizability/history.ts';

export const configMaps = '/api/v1/namespaces/default/configmaps';
export const nowMs = () => performance.now();

/** Collects what all clients and watchers of one run did. */
export class Recorder {
  readonly operations: Operation[] = [];
  readonly watches: WatchStream[] = [];
  #serial = 0;

  count(...types: readonly Operation['outcome']['type'][]): number {
    return this.operations.filter(({ outcome }) => types.includes(outcome.type)).length;
  }

  /** Writes that the server says it has not stored; a list may be refused because its version is too old. */
  get refusedWrites(): number {
    return this.operations.filter(({ call, outcome }) => call.verb !== 'list' && outcome.type === 'refused')
      .length;
  }

  /** A value that no other write has. */
  nextValue(): string {
    this.#serial += 1;
    return `v${this.#serial}`;
  }
}

/** The object that stores a value, with `length` more bytes that a checksum protects. */
export function objectOf(name: string, value: string, length: number, resourceVersion?: number): object {
  const payload = value.padEnd(length, 'x');
  const version = resourceVersion === undefined ? {} : { resourceVersion: `${resourceVersion}` };
  const annotations = { value, checksum: checksumOf(payload) };
  return { metadata: { name, annotations, ...version }, data: { payload } };
}

/** The value that an object stores; an object that is not exactly what one write stored has a value that no client wrote. */
export function itemOf({ metadata, data }: ApiObject): Item {
  const payload = data?.payload ?? '';
  const { value = 'none', checksum } = metadata.annotations ?? {};
  const isWhole = checksum === checksumOf(payload) && payload.replace(/x*$/, '') === value;
  return {
    name: metadata.name ?? '',
    version: Number(metadata.resourceVersion),
    value: isWhole ? value : `damaged ${value}`,
  };
}

/** Other objects of the namespace, such as kube-root-ca.crt, belong to the server. */
export function isOurs({ metadata }: ApiObject): boolean {
  return metadata.name?.startsWith('object-') === true;
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
