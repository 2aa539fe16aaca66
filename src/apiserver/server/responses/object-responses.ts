import type { FullResponse, HttpHeaders } from '../../../io/http/full-response.ts';
import { failure } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { ObjectSnapshot, SnapshotPage } from '../../registry/registry.ts';
import type { ApiRequest } from '../http/http-exchange.ts';
import { bodyResponse } from './body-responses.ts';
import type { MetaVersion, ResponseFormat } from './negotiation.ts';
import { listJson, objectJson } from './object-json.ts';
import { partialMetadataJson } from './partial-metadata.ts';
import { scaleTableJson } from './scale-table.ts';
import { includeObjectFromQuery, tableJson } from './table.ts';

/** The options that all object responses of one request share. */
export interface ObjectResponseOptions {
  readonly request: ApiRequest;
  readonly kind: ServedKind;
  readonly form: ResponseFormat;
  readonly nowMs: number;
  readonly headers?: HttpHeaders;
}

/** One object in the requested format. */
export function objectResponse(
  status: number,
  snapshot: ObjectSnapshot,
  answering: ObjectResponseOptions,
): FullResponse {
  return bodyResponse(status, answering.form, objectPieces(snapshot, answering), answering.headers);
}

/** A page of objects in the requested format. */
export function listResponse(
  status: number,
  page: SnapshotPage,
  answering: ObjectResponseOptions,
): FullResponse {
  return bodyResponse(status, answering.form, listPieces(page, answering), answering.headers);
}

function objectPieces(snapshot: ObjectSnapshot, answering: ObjectResponseOptions): readonly Uint8Array[] {
  const { kind, form } = answering;
  const { shape } = form;
  switch (shape.kind) {
    case 'object':
      return objectJson(snapshot);
    case 'PartialObjectMetadata':
      return [partialMetadataJson(snapshot, shape.version)];
    case 'PartialObjectMetadataList':
      throw wrongShape(`you requested ${shape.kind}, but the requested object is not a list`, kind, '');
    case 'Table': {
      const table = wholeTable(shape.version, answering);
      const { resourceVersion } = snapshot.object.metadata;
      const metadata = resourceVersion === undefined ? {} : { resourceVersion };
      if (snapshot.kind === 'Scale') return scaleTableJson(snapshot, metadata, table);
      return tableJson(kind, [snapshot], metadata, table);
    }
  }
}

function listPieces(page: SnapshotPage, answering: ObjectResponseOptions): readonly Uint8Array[] {
  const { kind, form } = answering;
  const { shape } = form;
  const metadata = listMetadata(page);
  switch (shape.kind) {
    case 'object': {
      const end = kind.definition === undefined ? {} : { continue: '' };
      const head = {
        kind: kind.definition?.listKind ?? `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata: { ...end, ...metadata },
      };
      return listJson(head, page.items.map(kind.definition === undefined ? itemJson : wholeJson));
    }
    case 'PartialObjectMetadata':
      throw wrongShape(`you requested ${shape.kind}, but the requested object is a list`, kind, 'List');
    case 'PartialObjectMetadataList':
      return partialListPieces(page, metadata, shape.version);
    case 'Table':
      return tableJson(kind, page.items, metadata, wholeTable(shape.version, answering));
  }
}

/** A table with column definitions; only a watch omits them after the first table. */
function wholeTable(version: MetaVersion, { request, nowMs }: ObjectResponseOptions) {
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
function wholeJson(snapshot: ObjectSnapshot): Uint8Array {
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
function wrongShape(sentence: string, { group, kind }: ServedKind, suffix: string) {
  const packageName = group === '' ? 'core' : group.split('.')[0];
  return failure(406, 'NotAcceptable', `${sentence} (*${packageName}.${kind}${suffix})`);
}
