import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customServedKind } from '../../custom/custom-kind.ts';
import { widgetDefinition } from '../../custom/testing/definition-fixture.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { type ServedCluster, serveCluster } from '../testing/served-cluster.ts';
import { entryAt, fieldsAt, textAt } from '../testing/wire-fields.ts';
import { OpenApiV2Page } from './v2-page.ts';

const path = '/openapi/v2';
const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const protobufOfOld = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const json = 'application/json';

let cluster: ServedCluster;
beforeAll(async () => {
  cluster = await serveCluster();
});
afterAll(async () => {
  expect(cluster.errors).toEqual([]);
  await cluster.close();
});

async function ask(headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  return await cluster.call(method, path, { headers });
}

describe('the page', () => {
  test.each([
    [undefined, json],
    ['*/*', json],
    ['application/*', json],
    ['*/json', json],
    [`${json};q=0.5, ${protobuf}`, protobuf],
    [protobuf, protobuf],
    [protobufOfOld, protobuf],
    [`text/html, ${protobufOfOld}`, protobuf],
  ])('for %s is %s', async (accept, type) => {
    const { status, headers } = await ask(accept === undefined ? {} : { accept });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'no-cache, private',
      'content-type': type,
      vary: 'Accept',
    });
  });

  test.each(['text/html', 'application/yaml'])('for %s is not acceptable', async (accept) => {
    const { status, bytes, headers } = await ask({ accept });
    expect([status, bytes.length, headers.vary]).toEqual([406, 0, 'Accept']);
  });

  test('has the same ETag in both formats, and is not sent again', async () => {
    const { headers } = await ask();
    const tag = headers.etag ?? '';
    expect(tag).toMatch(/^"[0-9A-F]{128}"$/);
    expect((await ask({ accept: protobuf })).headers.etag).toBe(tag);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await ask({ 'if-none-match': known });
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, tag]);
      expect(again.headers['content-type']).toBeUndefined();
    }
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('is compressed on request', async () => {
    const { bytes, headers } = await ask({ 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bytes).equals((await ask()).bytes)).toBe(true);
  });

  test('supports HEAD', async () => {
    const { status, bytes, headers } = await ask({}, 'HEAD');
    expect([status, bytes.length]).toEqual([200, 0]);
    expect(Number(headers['content-length'])).toBe((await ask()).bytes.length);
  });

  test('is not found with a trailing slash, as in kube-apiserver', async () => {
    expect((await cluster.call('GET', `${path}/`)).status).toBe(404);
  });
});

describe('the document', () => {
  test('contains every definition that it refers to', async () => {
    const { text, json: parsed } = await ask();
    const { definitions } = parsed<Document>();
    const referred = new Set([...text.matchAll(/#\/definitions\/([\w.-]+)/g)].map(([, name]) => name ?? ''));
    expect(referred.size).toBeGreaterThan(100);
    expect([...referred].filter((name) => definitions[name] === undefined)).toEqual([]);
    expect(text).not.toContain('#/components');
  });

  test('contains what kubectl looks for: the kind of a patch, its media types and the parameter fieldValidation', async () => {
    const { paths } = (await ask()).json<Document>();
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.patch;
    expect(patch).toMatchObject({
      consumes: expect.arrayContaining(['application/strategic-merge-patch+json']),
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
    });
    expect(patch?.parameters).toContainEqual({
      name: 'fieldValidation',
      in: 'query',
      type: 'string',
      uniqueItems: true,
    });
    expect(patch?.parameters[0]).toEqual({
      name: 'body',
      in: 'body',
      required: true,
      schema: { type: 'object' },
    });
  });

  test('follows added and removed kinds', async () => {
    const before = await ask({ accept: protobuf });
    cluster.registry.kinds.replaceDefined(new Map([['widgets', [widgets()]]]));
    const during = await ask();
    expect(during.headers.etag).not.toBe(before.headers.etag);
    const { definitions, paths } = during.json<Document>();
    expect(definitions['com.example.v1.Widget']).toEqual({
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: expect.stringContaining('APIVersion defines') },
        kind: { type: 'string', description: expect.stringContaining('Kind is a string value') },
        metadata: {
          $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
          description: expect.stringContaining("Standard object's metadata"),
        },
        spec: {
          type: 'object',
          properties: { color: { type: 'string' }, port: { 'x-kubernetes-preserve-unknown-fields': true } },
        },
      },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
    });
    expect(definitions['com.example.v1.Widgets']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widgets' }],
    });
    const patch = paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}']?.patch;
    expect(patch?.consumes).not.toContain('application/strategic-merge-patch+json');
    cluster.registry.kinds.replaceDefined(new Map([['widgets', []]]));
    const after = await ask({ accept: protobuf });
    expect(after.bytes.equals(before.bytes)).toBe(true);
  });
});

test('is built once for all requests of the time, and other work gets turns', async () => {
  const catalog = builtInKindCatalog();
  const [custom] = [widgets()];
  const versions = Array.from({ length: 400 }, (_, at) => ({
    ...custom,
    version: `v${at + 1}`,
    type: `example.com/v${at + 1}.Widget`,
  }));
  catalog.replaceDefined(new Map([['widgets', versions]]));
  const page = new OpenApiV2Page(catalog);
  const asked = { path, method: 'GET', headers: {}, headerValues: {} } as unknown as IncomingRequest;
  let [turns, isDone] = [0, false];
  const tick = () => {
    turns += 1;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const responses = await Promise.all([page.respond(asked), page.respond(asked)]);
  isDone = true;
  expect(turns).toBeGreaterThan(10);
  expect(responses[0].body[0]).toBe(responses[1].body[0]);
  // So that its compressed form is kept, too.
  expect(responses[0].isShared).toBe(true);
  catalog.replaceDefined(new Map([['widgets', []]]));
  expect((await page.respond(asked)).body[0]).not.toBe(responses[0].body[0]);
});

describe('the protobuf format', () => {
  let document: Buffer;
  beforeAll(async () => {
    document = (await ask({ accept: protobuf })).bytes;
  });

  test("has the same content as the JSON format, with gnostic's field numbers", async () => {
    const { definitions, paths } = (await ask()).json<Document>();
    expect(textAt(document, 1)).toBe('2.0');
    expect(textAt(document, 2, 1)).toBe('Kubernetes');
    expect(fieldsAt(document, 9, 1, 1).map(String)).toEqual(Object.keys(definitions));
    expect(fieldsAt(document, 8, 2, 1).map(String)).toEqual(Object.keys(paths));
  });

  test('contains definitions as kubectl reads them', () => {
    const spec = entryAt(document, 'io.k8s.api.core.v1.PodSpec', 9, 1);
    expect(textAt(spec, 22, 1)).toBe('object');
    expect(textAt(spec, 19)).toBe('containers');
    const containers = entryAt(spec, 'containers', 25, 1);
    expect(textAt(containers, 22, 1)).toBe('array');
    expect(textAt(containers, 23, 1, 1)).toBe('#/definitions/io.k8s.api.core.v1.Container');
    expect(textAt(entryAt(containers, 'x-kubernetes-patch-merge-key', 31), 2)).toBe('"name"');
    expect(textAt(entryAt(spec, 'nodeSelector', 25, 1), 21, 1, 22, 1)).toBe('string');
  });

  test('contains the kind of a definition', () => {
    const pod = entryAt(document, 'io.k8s.api.core.v1.Pod', 9, 1);
    const identity = textAt(entryAt(pod, 'x-kubernetes-group-version-kind', 31), 2) ?? '';
    expect(JSON.parse(identity)).toEqual([{ group: '', kind: 'Pod', version: 'v1' }]);
  });

  test('contains the parameters and the kind of a patch', () => {
    const pods = entryAt(document, '/api/v1/namespaces/{namespace}/pods/{name}', 8, 2);
    const queries = fieldsAt(pods, 8, 8, 1, 2, 3, 4).map(String);
    expect(queries).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
    expect(fieldsAt(pods, 8, 8, 1, 1, 2).map(String)).toEqual(['body']);
    expect(fieldsAt(pods, 9, 1, 2, 4, 4).map(String)).toEqual(['name', 'namespace']);
    const [patch = Buffer.alloc(0)] = fieldsAt(pods, 8);
    const identity = textAt(entryAt(patch, 'x-kubernetes-group-version-kind', 13), 2) ?? '';
    expect(JSON.parse(identity)).toEqual({ group: '', version: 'v1', kind: 'Pod' });
  });

  test('requires a token', () => {
    const token = entryAt(document, 'BearerToken', 13, 1);
    expect([1, 2, 3, 4].map((number) => textAt(token, 2, number))).toEqual([
      'apiKey',
      'authorization',
      'header',
      'Bearer Token authentication',
    ]);
    expect(textAt(document, 12, 1, 1)).toBe('BearerToken');
  });
});

interface Document {
  readonly definitions: Readonly<Record<string, object>>;
  readonly paths: Readonly<
    Record<
      string,
      { readonly patch?: { readonly consumes: readonly string[]; readonly parameters: readonly object[] } }
    >
  >;
}

/** The list kind of widgets has a custom name. */
function widgets(): ServedKind {
  const port = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };
  const definition = widgetDefinition({ v1: { color: { type: 'string', default: 'red' }, port } });
  const [version] = definition.spec.versions ?? [];
  if (version === undefined) throw new Error('there is no version');
  const acceptedNames = { plural: 'widgets', kind: 'Widget', listKind: 'Widgets' };
  return customServedKind({
    definition: { ...definition, status: { acceptedNames } } as typeof definition,
    version,
    isTerminating: () => false,
  });
}
