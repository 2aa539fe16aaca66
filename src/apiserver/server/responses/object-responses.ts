import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import { failure } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { ObjectSnapshot, SnapshotPage } from '../../registry/registry.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { bodyResponse } from './body-responses.ts';
import type { MetaVersion, ResponseFormat } from './negotiation.ts';
import { listJson, objectJson } from './object-json.ts';
import { partialMetadataJson } from './partial-metadata.ts';
import { scaleTableJson } from './scale-table.ts';
import { includeObjectFromQuery, tableJson } from './table.ts';

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

/** A page of objects in the requested format. */
export function listResponse(
  status: number,
  page: SnapshotPage,
  options: ObjectResponseOptions,
): FullResponse {
  return bodyResponse(status, options.format, listPieces(page, options), options.headers);
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

function listPieces(page: SnapshotPage, options: ObjectResponseOptions): readonly Uint8Array[] {
  const { kind, format } = options;
  const { shape } = format;
  const metadata = listMetadata(page);
  switch (shape.kind) {
    case 'object': {
      const end = kind.definition === undefined ? {} : { continue: '' };
      const head = {
        kind: kind.definition?.listKind ?? `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata: { ...end, ...metadata },
      };
      return listJson(head, page.items.map(kind.definition === undefined ? itemJson : fullItemJson));
    }
    case 'PartialObjectMetadata':
      throw wrongShape(`you requested ${shape.kind}, but the requested object is a list`, kind, 'List');
    case 'PartialObjectMetadataList':
      return partialListPieces(page, metadata, shape.version);
    case 'Table':
      return tableJson(kind, page.items, metadata, fullTable(shape.version, options));
  }
}

/** A table with column definitions; only a watch omits them after the first table. */
function fullTable(version: MetaVersion, { request, nowMs }: ObjectResponseOptions) {
  return { version, include: includeObjectFromQuery(request.query), nowMs, hasColumns: true };
}

function partialListPieces(page: SnapshotPage, metadata: object, version: MetaVersion): Uint8Array[] {
  const head = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata };
  // kube-apiserver converts an empty list to `items: null`, not to an empty array.
  if (page.items.length === 0) return [Buffer.from(JSON.stringify({ ...head, items: null }))];
  const items = page.items.map((snapshot) => partialMetadataJson(snapshot, version));
  return listJson(head, items);
}

function itemJson({ json }: ObjectSnapshot): Uint8Array {
  return json;
}

/** Items of custom resources carry kind and apiVersion, unlike built-in kinds, and their lists have `continue: ""` at the end. */
function fullItemJson(snapshot: ObjectSnapshot): Uint8Array {
  return Buffer.concat(objectJson(snapshot));
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
