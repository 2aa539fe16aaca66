import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import { failure } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { scaleColumns, scaleRow } from '../../kinds/autoscaling/scale.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { ObjectSnapshot, SnapshotPage } from '../../registry/registry.ts';
import type { GeneratedResponse, IncomingRequest } from '../http/http-exchange.ts';
import { bodyResponse, generatedResponse, valueResponse } from './body-responses.ts';
import { type ListBody, type ListElement, listJson } from './list-body.ts';
import type { MetaVersion, ResponseFormat } from './negotiation.ts';
import { objectJson } from './object-json.ts';
import { partialMetadataJson } from './partial-metadata.ts';
import { includeObjectFromQuery, type TableFormat, type TableSource, tableBody, tableJson } from './table.ts';

/** The options that all object responses of one request share. */
export interface ObjectResponseOptions {
  readonly request: IncomingRequest;
  readonly kind: ServedKind;
  readonly format: ResponseFormat;
  readonly nowMs: number;
  readonly headers?: HttpHeaders;
}

/** One object in the requested format. */
export function objectResponse(
  status: number,
  snapshot: ObjectSnapshot,
  options: ObjectResponseOptions,
): FullResponse {
  return bodyResponse(status, options.format, objectPieces(snapshot, options), options.headers);
}

/** Smaller lists are encoded in one piece, so that their length is known. */
const generatedFromBytes = 256 * 1024;

/** A page of objects in the requested format. */
export function listResponse(
  status: number,
  page: SnapshotPage,
  options: ObjectResponseOptions,
): FullResponse | GeneratedResponse {
  const { format, headers } = options;
  const list = listBody(page, options);
  // kube-apiserver converts an empty list to `items: null`, not to an empty array.
  if (format.shape.kind === 'PartialObjectMetadataList' && page.items.length === 0)
    return valueResponse(status, format, { ...list.fields, items: null }, headers);
  // The stored bytes are sent as they are: that takes neither work nor memory.
  const isAsStored = format.shape.kind === 'object' && format.media === 'json' && !format.isPretty;
  if (isAsStored || storedBytes(page) < generatedFromBytes)
    return bodyResponse(status, format, listJson(list), headers);
  return generatedResponse(status, format, list, headers);
}

function storedBytes({ items }: SnapshotPage): number {
  let bytes = 0;
  for (const { json } of items) bytes += json.length;
  return bytes;
}

function objectPieces(snapshot: ObjectSnapshot, options: ObjectResponseOptions): readonly Uint8Array[] {
  const { kind, format } = options;
  const { shape } = format;
  switch (shape.kind) {
    case 'object':
      return objectJson(snapshot);
    case 'PartialObjectMetadata':
      return [partialMetadataJson(snapshot, shape.version)];
    case 'PartialObjectMetadataList':
      throw wrongShape(`you requested ${shape.kind}, but the requested object is not a list`, kind, '');
    case 'Table': {
      const table = fullTable(shape.version, options);
      const { resourceVersion } = snapshot.object.metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      if (snapshot.kind === 'Scale') return scaleTableJson(snapshot, metadata, table);
      return tableJson(kind, [snapshot], metadata, table);
    }
  }
}

function listBody(page: SnapshotPage, options: ObjectResponseOptions): ListBody {
  const { kind, format } = options;
  const { shape } = format;
  const metadata = listMetadata(page);
  switch (shape.kind) {
    case 'object': {
      const end = kind.definition === undefined ? {} : { continue: '' };
      const fields = {
        kind: kind.definition?.listKind ?? `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata: { ...end, ...metadata },
      };
      // Items of custom resources carry kind and apiVersion, unlike built-in kinds, and their lists have `continue: ""` at the end.
      const jsonOf = kind.definition === undefined ? storedJson : objectJson;
      return { fields, listField: 'items', elements: elementsOf(page, jsonOf) };
    }
    case 'PartialObjectMetadata':
      throw wrongShape(`you requested ${shape.kind}, but the requested object is a list`, kind, 'List');
    case 'PartialObjectMetadataList': {
      const { version } = shape;
      const fields = { kind: shape.kind, apiVersion: `meta.k8s.io/${version}`, metadata };
      const jsonOf = (snapshot: ObjectSnapshot) => [partialMetadataJson(snapshot, version)];
      return { fields, listField: 'items', elements: elementsOf(page, jsonOf) };
    }
    case 'Table':
      return tableBody(kind, page.items, metadata, fullTable(shape.version, options));
  }
}

function* elementsOf(
  { items }: SnapshotPage,
  jsonOf: (snapshot: ObjectSnapshot) => readonly Uint8Array[],
): Generator<ListElement> {
  for (const snapshot of items) {
    const json = jsonOf(snapshot);
    yield { json, workBytes: json.at(-1)?.length ?? 0 };
  }
}

/** A table with column definitions; only a watch omits them after the first table. */
function fullTable(version: MetaVersion, { request, nowMs }: ObjectResponseOptions) {
  return { version, include: includeObjectFromQuery(request.query), nowMs, hasColumns: true };
}

function storedJson({ json }: ObjectSnapshot): readonly Uint8Array[] {
  return [json];
}

function listMetadata({ resourceVersion, continue: next, remainingItemCount }: SnapshotPage): object {
  return {
    resourceVersion,
    ...(next === undefined ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** The message contains the Go type; its package is named after the first part of the group. */
function wrongShape(message: string, { group, kind }: ServedKind, suffix: string) {
  const packageName = group === '' ? 'core' : group.split('.')[0];
  return failure(406, 'NotAcceptable', `${message} (*${packageName}.${kind}${suffix})`);
}

/** The table for `kubectl get --subresource=scale`. Scale is not a served kind with columns of its own. */
function scaleTableJson(
  snapshot: ObjectSnapshot,
  metadata: object,
  format: TableFormat & { readonly hasColumns: boolean },
): Uint8Array[] {
  return tableJson(scaleView, [snapshot], metadata, format);
}

const scaleView: TableSource = {
  columns: scaleColumns,
  row: (object, context) => scaleRow(object as unknown as Scale, context),
};
