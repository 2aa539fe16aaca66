import { createHash } from 'node:crypto';
import type { FullResponse } from '../../../io/http/full-response.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { acceptHeader, parseAccept } from '../responses/negotiation.ts';
import type { ServedGroup, ServedResource, ServedSubresource, ServedVersion } from './discovery.ts';

/** Aggregated discovery: all groups in one document. Newer clients ask for it, to send two requests instead of one for each version. */
export interface AggregatedDocument {
  readonly body: Buffer;
  readonly etag: string;
}

export function aggregatedDocument(groups: readonly ServedGroup[]): AggregatedDocument {
  const list = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(describeVersion),
    })),
  };
  const body = Buffer.from(`${JSON.stringify(list)}\n`);
  return { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` };
}

/** Whether the client prefers aggregated over plain discovery. */
export function wantsAggregated(request: IncomingRequest): boolean {
  for (const { type, subtype, parameters } of parseAccept(acceptHeader(request))) {
    const isJson = type === '*' || (type === 'application' && (subtype === 'json' || subtype === '*'));
    if (!isJson) continue;
    if (!parameters.has('g') && !parameters.has('v') && !parameters.has('as')) return false;
    const isVersion2 = parameters.get('v') === 'v2' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (isVersion2 && parameters.get('as') === 'APIGroupDiscoveryList') return true;
  }
  return false;
}

export function aggregatedResponse(
  request: IncomingRequest,
  { body, etag }: AggregatedDocument,
): FullResponse {
  const headers = { 'Cache-Control': 'public', ETag: etag, Vary: 'Accept' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: [] };
  const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  return { status: 200, headers: { ...headers, 'Content-Type': type }, body: [body], isShared: true };
}

function describeVersion({ version, resources }: ServedVersion): object {
  return { version, resources: resources.map(describeResource), freshness: 'Current' };
}

function describeResource(resource: ServedResource): object {
  const { name, kind, namespaced, singular, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: name,
    responseKind: { group: '', version: '', kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map(describeSubresource) }),
  };
}

function describeSubresource({ name, kind, group = '', version = '', verbs }: ServedSubresource): object {
  return { subresource: name, responseKind: { group, version, kind }, verbs };
}
