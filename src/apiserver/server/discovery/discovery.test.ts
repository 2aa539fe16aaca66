import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reviewKinds } from '../routing/review-kinds.ts';
import { metricsGroup } from '../routing/simulated-metrics.ts';
import { type ServedCluster, serveCluster, servedKinds } from '../testing/served-cluster.ts';

let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
});

afterAll(async () => {
  await cluster.close();
});

const everything = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const part = ['get', 'patch', 'update'];

describe('discovery', () => {
  test('names the versions of the core group', async () => {
    expect((await cluster.call('GET', '/api')).json()).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [
        { clientCIDR: '0.0.0.0/0', serverAddress: cluster.server.url.slice('https://'.length) },
      ],
    });
  });

  test.each(['/apis', '/apis/'])('names the groups at %s, in the order of the real server', async (path) => {
    const { groups } = (await cluster.call('GET', path)).json<{ groups: { name: string }[] }>();
    const names = groups.map(({ name }) => name);
    const known = [
      'apps',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'batch',
      'policy',
      'storage.k8s.io',
    ];
    expect(names.filter((name) => known.includes(name))).toEqual(known);
    const served = new Set(
      [...servedKinds, ...reviewKinds, metricsGroup]
        .map(({ group }) => group)
        .filter((group) => group !== ''),
    );
    expect(new Set(names)).toEqual(served);
  });

  test('describes a group', async () => {
    const version = { groupVersion: 'apps/v1', version: 'v1' };
    expect((await cluster.call('GET', '/apis/apps')).json()).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [version],
      preferredVersion: version,
    });
  });

  test('describes resources and subresources', async () => {
    const list = (await cluster.call('GET', '/apis/apps/v1')).json<{ resources: { name: string }[] }>();
    const ours = list.resources.filter(({ name }) => name.startsWith('statefulsets'));
    expect(ours).toEqual([
      {
        name: 'statefulsets',
        singularName: 'statefulset',
        namespaced: true,
        kind: 'StatefulSet',
        verbs: everything,
        shortNames: ['sts'],
        categories: ['all'],
        storageVersionHash: 'H+vl74LkKdo=',
      },
      {
        name: 'statefulsets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: part,
      },
      { name: 'statefulsets/status', singularName: '', namespaced: true, kind: 'StatefulSet', verbs: part },
    ]);
  });

  test('does not offer to delete all namespaces', async () => {
    const { resources } = (await cluster.call('GET', '/api/v1')).json<{
      resources: { name: string; verbs: string[] }[];
    }>();
    expect(resources.find(({ name }) => name === 'namespaces')?.verbs).not.toContain('deletecollection');
  });

  test.each(['/api', '/apis'])('%s returns aggregated discovery on request', async (path) => {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const headers = { accept: `${type},application/json` };
    const reply = await cluster.call('GET', path, { headers });
    expect(reply.headers).toMatchObject({ 'content-type': type, vary: 'Accept', 'cache-control': 'public' });
    const etag = reply.headers.etag ?? '';
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    const again = await cluster.call('GET', path, { headers: { ...headers, 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(again.bytes).toHaveLength(0);
    const { items } = reply.json<{ items: { versions: { freshness: string; resources: object[] }[] }[] }>();
    expect(items[0]?.versions[0]?.freshness).toBe('Current');
    expect(items[0]?.versions[0]?.resources[0]).toMatchObject({ responseKind: { group: '', version: '' } });
  });

  test('is the same aggregated and plain', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = (await cluster.call('GET', '/api', { headers: { accept } })).json<AggregatedList>();
    const { resources } = (await cluster.call('GET', '/api/v1')).json<{ resources: { name: string }[] }>();
    const names = items[0]?.versions[0]?.resources.flatMap(({ resource, subresources = [] }) => [
      resource,
      ...subresources.map(({ subresource }) => `${resource}/${subresource}`),
    ]);
    expect(names).toEqual(resources.map(({ name }) => name));
  });
});

describe('OpenAPI', () => {
  test('has an index of immutable documents', async () => {
    const { paths } = (await cluster.call('GET', '/openapi/v3')).json<Index>();
    const url = paths['apis/apps/v1']?.serverRelativeURL ?? '';
    const reply = await cluster.call('GET', url);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'cache-control': 'public, immutable',
      'content-type': 'application/json',
    });
    const again = await cluster.call('GET', url, { headers: { 'if-none-match': reply.headers.etag ?? '' } });
    expect(again.status).toBe(304);
    const moved = await cluster.call('GET', '/openapi/v3/apis/apps/v1?hash=old');
    expect(moved.status).toBe(301);
    expect(moved.headers.location).toBe(url);
  });

  test('contains every type that it refers to', async () => {
    const { paths } = (await cluster.call('GET', '/openapi/v3')).json<Index>();
    for (const name of Object.keys(paths)) {
      const { text, json } = await cluster.call('GET', `/openapi/v3/${name}`);
      const { schemas } = json<OpenApiDocument>().components;
      const referred = new Set(
        [...text.matchAll(/#\/components\/schemas\/([\w.-]+)/g)].map(([, type]) => type ?? ''),
      );
      expect([...referred].filter((type) => schemas[type] === undefined)).toEqual([]);
    }
  });

  test('contains what kubectl looks for: the kind of a patch and the parameter fieldValidation', async () => {
    const document = (await cluster.call('GET', '/openapi/v3/apis/apps/v1')).json<OpenApiDocument>();
    const patch = document.paths['/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}']?.patch;
    expect(patch).toMatchObject({
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'StatefulSet' },
    });
    expect(patch?.parameters.map(({ name }) => name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ]);
  });

  test('contains list types and merge keys', async () => {
    const document = (await cluster.call('GET', '/openapi/v3/api/v1')).json<OpenApiDocument>();
    expect(document.components.schemas['io.k8s.api.core.v1.PodSpec']?.properties?.containers).toEqual({
      description: expect.stringContaining('List of containers belonging to the pod.'),
      type: 'array',
      items: { default: {}, allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Container' }] },
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
  });

  test.each([
    ['/openapi/v3/apis/nope/v1', '*/*', 404],
    ['/openapi/v3/api/v1', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 406],
  ])('%s as %s is answered with %i', async (path, accept, status) => {
    expect((await cluster.call('GET', path, { headers: { accept } })).status).toBe(status);
  });
});

interface AggregatedList {
  readonly items: readonly {
    readonly versions: readonly {
      readonly resources: readonly {
        readonly resource: string;
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface OpenApiDocument {
  readonly paths: Readonly<
    Record<string, { readonly patch?: { readonly parameters: readonly { name: string }[] } }>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
  };
}
