import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import { OpenApiPages } from './openapi-pages.ts';

function get(query = ''): IncomingRequest {
  return {
    method: 'GET',
    headers: {},
    headerValues: {},
    query: new URLSearchParams(query),
  } as IncomingRequest;
}

/** A custom kind with the fields that OpenAPI reads. */
function customKind(version: string, schema: object = {}): ServedKind {
  const publishedSchema = { type: 'object', ...schema };
  return {
    group: 'example.com',
    version,
    kind: 'Widget',
    plural: 'widgets',
    singular: 'widget',
    namespaced: true,
    type: `example.com/${version}.Widget`,
    definition: { listKind: 'WidgetList', publishedSchema },
  } as unknown as ServedKind;
}

function pagesWith(kinds: readonly ServedKind[]) {
  const catalog = builtInKindCatalog();
  const pages = new OpenApiPages(catalog);
  catalog.replaceDefined(new Map([['widgets', kinds]]));
  const index = () => {
    const text = Buffer.concat([...pages.respond(get(), '').body]).toString();
    return (JSON.parse(text) as { paths: Record<string, { serverRelativeURL: string }> }).paths;
  };
  return { catalog, pages, index };
}

const versions = (count: number) => Array.from({ length: count }, (_, index) => customKind(`v${index + 1}`));

test('the index builds no document of a custom kind, however many versions there are', () => {
  const { catalog, pages, index } = pagesWith(versions(10));
  index();
  const built = pages.documentsBuilt;
  catalog.replaceDefined(new Map([['widgets', versions(3_000)]]));
  expect(Object.keys(index()).filter((name) => name.startsWith('apis/example.com/'))).toHaveLength(3_000);
  expect(pages.documentsBuilt).toBe(built);
});

test('a document is built once, and again only if it was not requested for long', () => {
  const { pages } = pagesWith(versions(100));
  const before = pages.documentsBuilt;
  for (let round = 0; round < 3; round++) pages.respond(get(), 'apis/example.com/v1');
  expect(pages.documentsBuilt).toBe(before + 1);
  for (let version = 2; version <= 100; version++) pages.respond(get(), `apis/example.com/v${version}`);
  pages.respond(get(), 'apis/example.com/v1');
  expect(pages.documentsBuilt).toBe(before + 101);
});

test('the hash of the index is the tag of the document, and changes with the definition', () => {
  const { catalog, pages, index } = pagesWith([customKind('v1')]);
  const url = () => index()['apis/example.com/v1']?.serverRelativeURL ?? '';
  const first = url();
  const hash = first.split('hash=')[1];
  expect(pages.respond(get(), 'apis/example.com/v1').headers).toMatchObject({ ETag: `"${hash}"` });
  expect(pages.respond(get(`hash=${hash}`), 'apis/example.com/v1').status).toBe(200);
  catalog.replaceDefined(new Map([['widgets', [customKind('v1')]]]));
  expect(url()).toBe(first);
  catalog.replaceDefined(new Map([['widgets', [customKind('v1', { description: 'changed' })]]]));
  expect(url()).not.toBe(first);
  expect(pages.respond(get(`hash=${hash}`), 'apis/example.com/v1').status).toBe(301);
});

test('no operation has an empty list of parameters: Go would omit it', () => {
  const { pages, index } = pagesWith([customKind('v1')]);
  for (const name of Object.keys(index())) {
    const text = Buffer.concat([...pages.respond(get(), name).body]).toString();
    expect(text).not.toContain('"parameters":[]');
  }
});

test('the list type of a custom kind and its fields have the descriptions of kube-apiserver', () => {
  const { pages } = pagesWith([customKind('v1')]);
  const text = Buffer.concat([...pages.respond(get(), 'apis/example.com/v1').body]).toString();
  const { components } = JSON.parse(text) as {
    components: {
      schemas: Record<string, { description?: string; properties: Record<string, { description?: string }> }>;
    };
  };
  const list = components.schemas['com.example.v1.WidgetList'];
  expect(list?.description).toBe('WidgetList is a list of Widget');
  const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
  expect(list?.properties.items?.description).toBe(`List of widgets. More info: ${conventions}`);
  expect(list?.properties.metadata?.description).toBe(
    `Standard list metadata. More info: ${conventions}#types-kinds`,
  );
  expect(Object.values(list?.properties ?? {}).every(({ description }) => description !== undefined)).toBe(
    true,
  );
});
