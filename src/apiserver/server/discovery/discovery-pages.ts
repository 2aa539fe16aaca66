import type { FullResponse } from '../../../io/http/full-response.ts';
import { failure } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import { cachedPerCatalogVersion } from '../catalog-version-cache.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { valueResponse } from '../responses/body-responses.ts';
import { negotiate } from '../responses/negotiation.ts';
import type { DiscoveryTarget } from '../routing/router.ts';
import {
  type AggregatedDocument,
  aggregatedDocument,
  aggregatedResponse,
  wantsAggregated,
} from './aggregated.ts';
import {
  coreVersionsBody,
  groupBody,
  groupListBody,
  resourceListBody,
  type ServedGroup,
  servedGroups,
} from './discovery.ts';

/** Serves `/api`, `/apis` and the discovery documents below them. */
export class DiscoveryPages {
  readonly #served: () => Served;
  readonly #serverAddress: () => string;

  /** `serverAddress` is a function because the address is known only once the server listens. */
  constructor(kinds: KindCatalog, serverAddress: () => string) {
    this.#served = cachedPerCatalogVersion(kinds, served);
    this.#serverAddress = serverAddress;
  }

  respond(request: IncomingRequest, target: DiscoveryTarget): FullResponse {
    if (target.kind === 'core' && wantsAggregated(request))
      return aggregatedResponse(request, this.#served().core);
    if (target.kind === 'groups' && wantsAggregated(request))
      return aggregatedResponse(request, this.#served().named);
    return valueResponse(200, negotiate(request, { shapes: 'none' }), this.#body(target));
  }

  /** All discovery paths, for the index page. */
  paths(): readonly string[] {
    const { groups } = this.#served();
    const named = groups.filter(({ name }) => name !== '');
    const core = groups.filter(({ name }) => name === '');
    return [
      '/api',
      ...core.flatMap(({ versions }) => versions.map(({ version }) => `/api/${version}`)),
      '/apis',
      ...named.flatMap(({ name, versions }) => [
        `/apis/${name}`,
        ...versions.map(({ version }) => `/apis/${name}/${version}`),
      ]),
    ];
  }

  #body(target: DiscoveryTarget): object {
    switch (target.kind) {
      case 'core':
        return coreVersionsBody(this.#served().groups, this.#serverAddress());
      case 'groups':
        return groupListBody(this.#served().groups);
      case 'group':
        return groupBody(this.#group(target.group));
      case 'version':
        return this.#versionBody(target.apiVersion);
    }
  }

  #group(name: string): ServedGroup {
    const group = this.#served().groups.find((candidate) => candidate.name === name);
    if (group === undefined) throw nowhere();
    return group;
  }

  #versionBody(apiVersion: string): object {
    for (const { name, versions } of this.#served().groups) {
      const found = versions.find(({ version }) => apiVersionOf({ group: name, version }) === apiVersion);
      if (found !== undefined) return resourceListBody(apiVersion, found);
    }
    throw nowhere();
  }
}

interface Served {
  readonly groups: readonly ServedGroup[];
  readonly core: AggregatedDocument;
  readonly named: AggregatedDocument;
}

function served({ all }: KindCatalog): Served {
  const groups = servedGroups(all);
  const core = aggregatedDocument(groups.filter(({ name }) => name === ''));
  return { groups, core, named: aggregatedDocument(groups.filter(({ name }) => name !== '')) };
}

function nowhere() {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}
