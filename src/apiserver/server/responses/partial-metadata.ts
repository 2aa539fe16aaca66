import { jsonText } from '../../../kube/go/json-text.ts';
import type { ObjectSnapshot } from '../../registry/registry.ts';
import type { MetaVersion } from './negotiation.ts';

/** An object's metadata only, for clients that cache many objects for their owners and labels. */
export function partialMetadataJson(snapshot: ObjectSnapshot, version: MetaVersion): Uint8Array {
  const metadata = metadataJson(snapshot);
  return Buffer.concat([partialHead(version), metadata, end]);
}

/** A bookmark carries no object, only the version that the watch has reached. */
export function partialBookmark(metadata: object, version: MetaVersion): object {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
}

const end = Buffer.from('}');

function partialHead(version: MetaVersion): Buffer {
  return version === 'v1' ? head : betaHead;
}

const head = Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":');
const betaHead = Buffer.from(
  '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":',
);

const prefix = Buffer.from('{"metadata":{');

/** Stored JSON begins with the metadata, so it is sliced from the bytes: a list of 100,000 pods needs no parsing. */
function metadataJson(snapshot: ObjectSnapshot): Uint8Array {
  const { json } = snapshot;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  if (bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0) {
    const stop = endOfObject(bytes, prefix.length - 1);
    if (stop !== undefined) return bytes.subarray(prefix.length - 1, stop);
  }
  return Buffer.from(jsonText(snapshot.object.metadata));
}

const quote = 0x22;
const backslash = 0x5c;
const open = 0x7b;
const close = 0x7d;

/** The end of the JSON object that begins at `start`: braces balance, braces inside strings do not count. */
function endOfObject(bytes: Buffer, start: number): number | undefined {
  let depth = 0;
  let isInText = false;
  for (let index = start; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isInText) {
      if (byte === backslash) index += 1;
      else if (byte === quote) isInText = false;
    } else if (byte === quote) isInText = true;
    else if (byte === open) depth += 1;
    else if (byte === close) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}
