import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callWithoutTls, type ServedCluster, serveCluster } from './testing/served-cluster.ts';

let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
});

afterAll(async () => {
  await cluster.close();
  expect(cluster.errors).toEqual([]);
});

const classes = '/apis/storage.k8s.io/v1/storageclasses';

function storageClass(name: string, more: object = {}) {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'a/b',
    ...more,
  };
}

describe('without the token', () => {
  test.each(['/healthz', '/livez', '/readyz', '/readyz/ping', '/version'])('%s is answered', async (path) => {
    expect((await cluster.call('GET', path, { token: undefined })).status).toBe(200);
  });

  test.each(['/api', '/apis', '/openapi/v2', '/openapi/v3', '/', '/nope', classes, '/apis/nope/v1'])(
    '%s is not',
    async (path) => {
      const reply = await cluster.call('GET', path, { token: undefined });
      expect(reply.status).toBe(401);
      expect(reply.text).toBe(
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n',
      );
    },
  );

  test('a wrong token is refused even where none is needed', async () => {
    expect((await cluster.call('GET', '/healthz', { token: 'wrong' })).status).toBe(401);
  });

  test('nothing is written', async () => {
    const reply = await cluster.call('POST', classes, { token: 'wrong', body: storageClass('intruder') });
    expect(reply.status).toBe(401);
    expect((await cluster.call('GET', `${classes}/intruder`)).status).toBe(404);
  });

  test('a request without TLS gets no response', async () => {
    expect(await callWithoutTls(Number(new URL(cluster.server.url).port))).toBe('ECONNRESET');
  });

  test('impersonation is refused', async () => {
    const reply = await cluster.call('GET', classes, { headers: { 'Impersonate-User': 'bob' } });
    expect(reply.status).toBe(403);
  });
});

describe('an object', () => {
  test('is created, read, replaced, patched and deleted', async () => {
    const made = await cluster.call('POST', classes, { body: storageClass('life') });
    expect(made.status).toBe(201);
    expect(made.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      'content-length': String(made.bytes.length),
    });
    expect(made.text.startsWith('{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{')).toBe(
      true,
    );
    expect((await cluster.call('GET', `${classes}/life`)).json()).toEqual(made.json());
    const replaced = await cluster.call('PUT', `${classes}/life`, {
      body: { ...made.json<object>(), allowVolumeExpansion: true },
    });
    expect(replaced.json()).toMatchObject({ allowVolumeExpansion: true });
    const patched = await cluster.call('PATCH', `${classes}/life`, {
      body: { metadata: { labels: { a: 'b' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(patched.json()).toMatchObject({ metadata: { labels: { a: 'b' } } });
    expect((await cluster.call('DELETE', `${classes}/life`, { body: {} })).status).toBe(200);
    expect((await cluster.call('GET', `${classes}/life`)).status).toBe(404);
  });

  test('is created and read as YAML', async () => {
    const body = 'kind: StorageClass\nmetadata: {name: yaml}\nprovisioner: a/b\n';
    const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' };
    const made = await cluster.call('POST', `${classes}?dryRun=All`, { body, headers });
    expect(made.headers['content-type']).toBe('application/yaml');
    expect(made.text).toContain('\nkind: StorageClass\n');
  });

  test('with unknown fields is created with warnings or refused', async () => {
    const body = storageClass('odd', { foo: 1, 'f"ö': 2 });
    const warned = await cluster.call('POST', `${classes}?dryRun=All`, { body });
    expect(warned.status).toBe(201);
    const warning = Buffer.from(warned.headers.warning ?? '', 'latin1').toString();
    expect(warning).toBe('299 - "unknown field \\"foo\\"", 299 - "unknown field \\"f\\\\\\"ö\\""');
    const refused = await cluster.call('POST', `${classes}?fieldValidation=Strict`, { body });
    expect(refused.status).toBe(400);
    expect(refused.json().message).toContain('strict decoding error: unknown field "foo"');
  });

  test.each([
    ['GET', `${classes}/nope`, 404, 'storageclasses.storage.k8s.io "nope" not found'],
    ['GET', `${classes}/%2e%2e`, 400, `Name parameter invalid: "..": may not be '..'`],
    ['GET', `${classes}/a%25b`, 400, `Name parameter invalid: "a%b": may not contain '%'`],
    ['POST', `${classes}/x`, 405, 'the server does not allow this method on the requested resource'],
    ['POST', '/version', 405, 'the server does not allow this method on the requested resource'],
    ['DELETE', '/apis', 405, 'the server does not allow this method on the requested resource'],
    ['GET', '/api/v1/foos', 404, 'the server could not find the requested resource'],
  ])('%s %s is refused with %i', async (method, path, status, message) => {
    const reply = await cluster.call(method, path);
    expect(reply.json()).toMatchObject({ kind: 'Status', status: 'Failure', code: status, message });
    expect(reply.status).toBe(status);
  });

  test.each(['/nope', '/apis/nope', '/openapi/v2/', '/healthz/nope'])(
    '%s is a page that is not there',
    async (path) => {
      const reply = await cluster.call('GET', path);
      expect(reply.status).toBe(404);
      expect(reply.text).toBe('404 page not found\n');
      expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

  test('larger than three megabytes is refused, with or without Content-Length', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024 + 1, 0x20);
    for (const isChunked of [false, true]) {
      const reply = await cluster.call('POST', classes, { body, isChunked });
      expect(reply.status).toBe(413);
      expect(reply.json().message).toBe('Request entity too large: limit is 3145728');
    }
    expect((await cluster.call('GET', classes)).status).toBe(200);
  });
});

describe('a list', () => {
  beforeAll(async () => {
    for (let index = 0; index < 80; index += 1) {
      const parameters = { padding: 'x'.repeat(4000) };
      await cluster.call('POST', classes, { body: storageClass(`list-${index}`, { parameters }) });
    }
  });

  test('is paged', async () => {
    const first = (await cluster.call('GET', `${classes}?limit=50`)).json<Page>();
    expect(first).toMatchObject({ kind: 'StorageClassList', apiVersion: 'storage.k8s.io/v1' });
    expect(first.items).toHaveLength(50);
    expect(first.metadata.remainingItemCount).toBe(30);
    const token = encodeURIComponent(first.metadata.continue ?? '');
    const second = (await cluster.call('GET', `${classes}?limit=50&continue=${token}`)).json<Page>();
    expect(second.items).toHaveLength(30);
    expect(second.metadata.continue).toBeUndefined();
  });

  test('is compressed on request if it is large', async () => {
    const plain = await cluster.call('GET', classes);
    const packed = await cluster.call('GET', classes, { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    const small = await cluster.call('GET', `${classes}?limit=1`, { headers: { 'accept-encoding': 'gzip' } });
    expect(small.headers['content-encoding']).toBeUndefined();
  });

  test.each(['None', 'Metadata', 'Object'])('is shown as a table whose rows include %s', async (include) => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const path = `${classes}?limit=1&includeObject=${include}`;
    const table = (await cluster.call('GET', path, { headers: { accept } })).json<TableBody>();
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(table.columnDefinitions[0]).toMatchObject({
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 0,
    });
    const [row] = table.rows;
    expect(row?.cells).toHaveLength(table.columnDefinitions.length);
    const kinds = { None: undefined, Metadata: 'PartialObjectMetadata', Object: 'StorageClass' };
    expect(row?.object?.kind).toBe(kinds[include as keyof typeof kinds]);
  });

  test('is shown as metadata only, without decoding the objects', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const list = (await cluster.call('GET', classes, { headers: { accept } })).json<Page>();
    expect(list.kind).toBe('PartialObjectMetadataList');
    expect(list.items).toHaveLength(80);
    for (const item of list.items) expect(Object.keys(item)).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  test('cannot be requested as an object, nor an object as a list', async () => {
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const list = await cluster.call('GET', classes, { headers: { accept } });
    expect(list.json()).toMatchObject({
      code: 406,
      message:
        'you requested PartialObjectMetadata, but the requested object is a list (*storage.StorageClassList)',
    });
  });

  test('is deleted as a collection', async () => {
    const deleted = (await cluster.call('DELETE', classes)).json<Page>();
    expect(deleted.items).toHaveLength(80);
    expect((await cluster.call('GET', classes)).json<Page>().items).toEqual([]);
  });
});

interface Page {
  readonly kind: string;
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly object[];
}

interface TableBody {
  readonly columnDefinitions: readonly object[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly kind: string } | null;
  }[];
}
