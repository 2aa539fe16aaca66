import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServedCluster, type ServerReply, serveCluster } from './testing/served-cluster.ts';

const pods = '/api/v1/namespaces/default/pods';
let cluster: ServedCluster;

beforeAll(async () => {
  cluster = await serveCluster();
});
afterAll(async () => {
  await cluster.close();
  expect(cluster.errors).toEqual([]);
});

function podWith(name: string, csi: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: 'redis' }],
      volumes: [{ name: 'data', csi: { driver: 'pmem-csi.intel.com', ...csi } }],
    },
  };
}

function create(name: string, csi: object): Promise<ServerReply> {
  const headers = { 'content-type': 'application/json' };
  return cluster.call('POST', `${pods}?fieldValidation=Strict`, { body: podWith(name, csi), headers });
}

interface StoredPod {
  readonly spec: { readonly volumes: readonly { readonly csi?: { readonly fsSize?: string } }[] };
}

async function storedSize(name: string): Promise<string | undefined> {
  const { spec } = (await cluster.call('GET', `${pods}/${name}`)).json<StoredPod>();
  return spec.volumes.find(({ csi }) => csi !== undefined)?.csi?.fsSize;
}

interface Failure {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

const attribute = { volumeAttributes: { 'csi.storage.k8s.io/size': '1Gi' } };

describe('a new field fsSize of type *Quantity in CSIVolumeSource', () => {
  test('is stored and returned', async () => {
    expect((await create('sized', { fsSize: '10240Mi' })).status).toBe(201);
    expect(await storedSize('sized')).toBe('10Gi');
  });

  test('must be a pointer to distinguish between no size and zero size selected', async () => {
    for (const [name, csi] of Object.entries({ zero: { fsSize: 0 }, none: {}, null: { fsSize: null } }))
      expect((await create(name, csi)).status).toBe(201);
    expect(await storedSize('zero')).toBe('0');
    expect(await storedSize('none')).toBeUndefined();
    expect(await storedSize('null')).toBeUndefined();
  });

  test('must be optional: specifying the size by a driver-specific parameter must continue to work', async () => {
    expect((await create('own', { volumeAttributes: { size: '5Gi' } })).status).toBe(201);
    expect((await create('own-and-field', { fsSize: '1Gi', volumeAttributes: { size: '5Gi' } })).status).toBe(
      201,
    );
    expect((await create('attribute', attribute)).status).toBe(201);
  });

  test('Setting fsSize for a CSI driver which ignores the field is not an error', async () => {
    expect((await create('ignored', { driver: 'secrets-store.csi.k8s.io', fsSize: '1Gi' })).status).toBe(201);
  });

  test('is an error that names both if the size is set twice', async () => {
    const reply = await create('both', { fsSize: '1Gi', ...attribute });
    expect(reply.status).toBe(422);
    expect(reply.json<Failure>().details?.causes).toMatchObject([
      {
        field: 'spec.volumes[0].csi.fsSize',
        message: expect.stringContaining('spec.volumes[0].csi.volumeAttributes[csi.storage.k8s.io/size]'),
      },
    ]);
  });

  test('is an error with the field if it is not a size', async () => {
    const wrong = await create('wrong', { fsSize: '10Gx' });
    expect([wrong.status, wrong.json<Failure>().message]).toEqual([
      400,
      expect.stringContaining('spec.volumes[0].csi.fsSize: "10Gx" is not a quantity'),
    ]);
    const negative = await create('negative', { fsSize: '-1' });
    expect([negative.status, negative.json<Failure>().message]).toEqual([
      422,
      expect.stringContaining(
        'spec.volumes[0].csi.fsSize: Invalid value: "-1": must be greater than or equal',
      ),
    ]);
  });

  test('belongs to the managers of fields, and never changes', async () => {
    const applied = await cluster.call('PATCH', `${pods}/applied?fieldManager=me`, {
      body: podWith('applied', { fsSize: '1Gi' }),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect(applied.status).toBe(201);
    expect(applied.text).toContain('"f:fsSize":{}');
    const patched = await cluster.call('PATCH', `${pods}/applied`, {
      body: { spec: { volumes: [{ name: 'data', csi: { fsSize: '2Gi' } }] } },
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    });
    expect(patched.status).toBe(422);
    expect(await storedSize('applied')).toBe('1Gi');
  });
});
