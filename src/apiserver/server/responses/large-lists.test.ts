import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ServedCluster, serveCluster } from '../testing/served-cluster.ts';

const path = '/api/v1/namespaces/default/configmaps';
const count = 40;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const metadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

let cluster: ServedCluster;
let whole: ListOf;
beforeAll(async () => {
  cluster = await serveCluster();
  for (let at = 0; at < count; at += 1) {
    const data = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`key-${key}`, 'x'.repeat(90)]));
    await cluster.call('POST', path, { body: { metadata: { name: `large-${at}` }, data } });
  }
  whole = (await cluster.call('GET', path)).json<ListOf>();
});
afterAll(async () => {
  expect(cluster.errors).toEqual([]);
  await cluster.close();
});

interface ListOf {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const get = (accept: string, headers: Readonly<Record<string, string>> = {}, query = '') =>
  cluster.call('GET', path + query, { headers: { accept, ...headers } });

describe('a list that is larger than a quarter of a megabyte', () => {
  test('is sent as it is stored with its length', async () => {
    const { headers, bytes } = await get('application/json');
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(whole.items).toHaveLength(count);
  });

  test('is made while it is sent, as YAML and as pretty JSON', async () => {
    const yaml = await get('application/yaml');
    expect([yaml.headers['content-length'], yaml.headers['content-type']]).toEqual([
      undefined,
      'application/yaml',
    ]);
    expect(parse(yaml.text)).toEqual(whole);
    const pretty = await get('application/json', {}, '?pretty=1');
    expect(pretty.headers['content-length']).toBeUndefined();
    expect(pretty.text).toBe(JSON.stringify(whole, undefined, 2));
  });

  test('is made while it is sent, as a table and as metadata', async () => {
    const rows = (await get(table)).json<{ rows: readonly { cells: readonly unknown[] }[] }>();
    expect(rows.rows.map(({ cells }) => cells[0])).toEqual(whole.items.map(({ metadata: { name } }) => name));
    expect(rows.rows[0]?.cells[1]).toBe(100);
    const { items } = (await get(metadata)).json<ListOf>();
    expect(items.map(({ metadata: own }) => own)).toEqual(whole.items.map(({ metadata: own }) => own));
  });

  test('is compressed on request', async () => {
    const { headers, bytes } = await get('application/yaml', { 'accept-encoding': 'gzip' });
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
    expect(parse(gunzipSync(bytes).toString())).toEqual(whole);
  });

  test('that does not support includeObject as asked is refused as a whole', async () => {
    const reply = await get(table, {}, '?includeObject=Nothing');
    expect(reply.status).toBe(400);
  });
});

test('a smaller list has its length in every format', async () => {
  for (const accept of ['application/yaml', table, metadata]) {
    const { headers, bytes } = await get(accept, {}, '?limit=5');
    expect(headers['content-length']).toBe(String(bytes.length));
  }
});
