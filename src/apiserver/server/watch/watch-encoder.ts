import type { Status } from '../../../kube/api/meta.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { RegistryEvent } from '../../registry/registry.ts';
import type { ResponseShape } from '../responses/negotiation.ts';
import { objectJson } from '../responses/object-json.ts';
import { partialBookmark, partialMetadataJson } from '../responses/partial-metadata.ts';
import { type IncludeObject, tableBookmark, tableJson } from '../responses/table.ts';

export interface WatchFormat {
  readonly shape: ResponseShape;
  /** For tables only. */
  readonly include: IncludeObject;
}

/** How long cells stay correct: ages are shown in seconds. */
const cellsMaxAgeMs = 1_000;

interface Encoded {
  readonly format: string;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/** Encoded events by format. Hundreds of watchers receive the same event, most of them in the same format. */
const encodings = new WeakMap<RegistryEvent, Encoded[]>();

/** Encodes events as lines in the format that one watcher requested. */
export class WatchEncoder {
  readonly #kind: ServedKind;
  readonly #format: WatchFormat;
  readonly #formatKey: string;
  /** Only the first table of a watch names its columns. */
  #needsColumns: boolean;

  constructor(kind: ServedKind, format: WatchFormat) {
    this.#kind = kind;
    this.#format = format;
    const { shape, include } = format;
    // Includes the group: the two kinds of Event share their storage but have different columns.
    const detail = shape.kind === 'object' ? '' : `${shape.version} ${include} ${kind.group}`;
    this.#formatKey = `${shape.kind} ${detail}`;
    this.#needsColumns = shape.kind === 'Table';
  }

  /** One line including the line break. */
  encode(event: RegistryEvent, nowMs: number): Uint8Array {
    if (event.type === 'BOOKMARK') return line('BOOKMARK', [Buffer.from(this.#bookmark(event))]);
    if (this.#needsColumns) {
      this.#needsColumns = false;
      return this.#encodeChange(event, nowMs, true);
    }
    const known = encodings.get(event) ?? [];
    const isTable = this.#format.shape.kind === 'Table';
    const match = known.find(
      ({ format, atMs }) =>
        format === this.#formatKey && (!isTable || Math.abs(nowMs - atMs) < cellsMaxAgeMs),
    );
    if (match !== undefined) return match.bytes;
    const bytes = this.#encodeChange(event, nowMs, false);
    const others = known.filter(({ format }) => format !== this.#formatKey);
    encodings.set(event, [...others, { format: this.#formatKey, bytes, atMs: nowMs }]);
    return bytes;
  }

  #encodeChange(event: ChangeEvent, nowMs: number, hasColumns: boolean): Uint8Array {
    const { shape, include } = this.#format;
    const { snapshot, type } = event;
    switch (shape.kind) {
      case 'object':
        return line(type, objectJson(snapshot));
      case 'Table': {
        const format = { version: shape.version, include, nowMs, hasColumns };
        const { resourceVersion } = snapshot.object.metadata;
        return line(type, tableJson(this.#kind, [snapshot], { resourceVersion }, format));
      }
      default:
        return line(type, [partialMetadataJson(snapshot, shape.version)]);
    }
  }

  #bookmark({ resourceVersion, isInitialEnd }: BookmarkEvent): string {
    const annotations = isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion, ...annotations };
    const { shape } = this.#format;
    switch (shape.kind) {
      case 'object':
        return JSON.stringify({ kind: this.#kind.kind, apiVersion: apiVersionOf(this.#kind), metadata });
      case 'Table':
        return tableBookmark(this.#kind, metadata, shape.version);
      default:
        return JSON.stringify(partialBookmark(metadata, shape.version));
    }
  }
}

type ChangeEvent = Exclude<RegistryEvent, { readonly type: 'BOOKMARK' }>;
type BookmarkEvent = Extract<RegistryEvent, { readonly type: 'BOOKMARK' }>;

/** The last line of a watch that fails. */
export function errorLine(status: Status): Uint8Array {
  return line('ERROR', [Buffer.from(JSON.stringify(status))]);
}

function line(type: string, object: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), ...object, lineEnd]);
}

const lineEnd = Buffer.from('}\n');
