import { afterEach, expect, test } from 'vitest';
import { type ServedCluster, serveCluster } from '../../../apiserver/server/testing/served-cluster.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { labels } from '../../../kube/well-known.ts';
import { withZonalAffinity } from './zonal-admission.ts';

const rules = { persistentVolumes: withZonalAffinity };
const volumesPath = '/api/v1/persistentvolumes';

let served: ServedCluster | undefined;

afterEach(async () => {
  await served?.close();
});

async function post(path: string, body: object): Promise<PersistentVolume> {
  const reply = await served?.call('POST', path, { body });
  expect(reply?.status, reply?.text).toBe(201);
  return reply?.json() ?? {};
}

function volumeOf(given: Readonly<Record<string, string>>, spec: object = {}): object {
  const disk = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
  return { metadata: { name: 'v', labels: given }, spec: { ...disk, ...spec } };
}

async function makeNode(name: string, given: Readonly<Record<string, string>>): Promise<void> {
  await post('/api/v1/nodes', { metadata: { name, labels: given } });
}

/** Each term as `KEY in VALUES`, requirements joined by `and`. */
function affinityOf({ spec }: PersistentVolume): readonly string[] | undefined {
  return spec?.nodeAffinity?.required?.nodeSelectorTerms?.map(({ matchExpressions = [] }) =>
    matchExpressions.map(({ key, values = [] }) => `${key} in ${values.join(',')}`).join(' and '),
  );
}

test.each([
  {
    name: 'new labels',
    given: { [labels.zone]: 'a__b', [labels.region]: 'r' },
    expected: [`${labels.zone} in a,b and ${labels.region} in r`],
  },
  { name: 'an old label while nodes have only new ones', given: { [labels.betaZone]: 'a' } },
])('the answer to a new volume with $name has its affinity', async ({ given, expected }) => {
  served = await serveCluster({ rules });
  await makeNode('n1', { [labels.zone]: 'a' });
  const made = await post(volumesPath, volumeOf(given));
  expect(affinityOf(made)).toEqual(expected ?? [`${labels.zone} in a`]);
  expect(made.metadata?.labels).toEqual(given);
  const read = (await served.call('GET', `${volumesPath}/v`)).json<PersistentVolume>();
  expect(read.metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
  expect(affinityOf(read)).toEqual(affinityOf(made));
});

test('an old label becomes both if there are nodes of either kind', async () => {
  served = await serveCluster({ rules });
  await makeNode('old', { [labels.betaZone]: 'a' });
  await makeNode('new', { [labels.zone]: 'a' });
  const made = await post(volumesPath, volumeOf({ [labels.betaZone]: 'a' }));
  expect(affinityOf(made)).toEqual([`${labels.betaZone} in a`, `${labels.zone} in a`]);
});

test('an existing affinity stays, and an update that adds a label gets none', async () => {
  served = await serveCluster({ rules });
  const matchExpressions = [{ key: 'disk', operator: 'In', values: ['x'] }];
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  expect(affinityOf(await post(volumesPath, volumeOf({ [labels.zone]: 'a' }, { nodeAffinity })))).toEqual([
    'disk in x',
  ]);
  const plain = volumeOf({}) as PersistentVolume;
  await post(volumesPath, { ...plain, metadata: { name: 'w' } });
  const body = { metadata: { labels: { [labels.zone]: 'a' } } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await served.call('PATCH', `${volumesPath}/w`, { body, headers });
  expect(affinityOf(patched.json())).toBeUndefined();
});

test.each([
  { name: 'labels that disagree', given: { [labels.zone]: 'a', [labels.betaZone]: 'b' } },
  { name: 'an empty zone', given: { [labels.zone]: 'a____b' } },
  { name: 'no topology label', given: { app: 'x' } },
])('a volume with $name is accepted unchanged', async ({ given }) => {
  served = await serveCluster({ rules });
  expect(affinityOf(await post(volumesPath, volumeOf(given)))).toBeUndefined();
});

test('a recreated volume is accepted unchanged while a pod uses it elsewhere', async () => {
  served = await serveCluster({ rules });
  await makeNode('n1', { [labels.zone]: 'b' });
  await post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  const claimRef = { namespace: 'default', name: 'data' };
  expect(affinityOf(await post(volumesPath, volumeOf({ [labels.zone]: 'a' }, { claimRef })))).toBeUndefined();
});

test('a server without the plugin adds nothing', async () => {
  served = await serveCluster();
  expect(affinityOf(await post(volumesPath, volumeOf({ [labels.zone]: 'a' })))).toBeUndefined();
});
