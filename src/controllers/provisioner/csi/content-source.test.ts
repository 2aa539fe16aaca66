import { expect, test } from 'vitest';
import type { CsiRequest } from '../../../csi/csi-methods.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { persistentVolumeClaims } from '../../../kube/resources.ts';
import { cloningFinalizer } from './cloning-protection.ts';
import { type CsiFixtureOptions, CsiProvisionerFixture } from './testing/csi-provisioner-fixture.ts';

const controllerCapabilities = ['CREATE_DELETE_VOLUME', 'CLONE_VOLUME', 'CREATE_DELETE_SNAPSHOT'] as const;
const ofClaim = { kind: 'PersistentVolumeClaim', name: 'source' };
const ofSnapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'snap' };

/** A fixture with a claim that is bound to its volume. */
async function withSource(options: CsiFixtureOptions = {}): Promise<CsiProvisionerFixture> {
  const fixture = await CsiProvisionerFixture.start({ driver: { controllerCapabilities }, ...options });
  fixture.run();
  await fixture.makeClaim({ name: 'source', spec: { resources: { requests: { storage: '2Gi' } } } });
  const { metadata } = await fixture.provisioned('source');
  const claims = fixture.base.cluster.resource(persistentVolumeClaims);
  const key = { namespace: 'default', name: 'source' };
  await claims.patch(key, { type: 'merge', body: { spec: { volumeName: metadata?.name } } });
  const body = { status: { phase: 'Bound' } };
  await claims.patch(key, { type: 'merge', body }, { subresource: 'status' });
  return fixture;
}

const cloneSpec = (more: PersistentVolumeClaim['spec'] = {}) => ({
  dataSource: ofClaim,
  resources: { requests: { storage: '2Gi' } },
  ...more,
});

test('a clone names the volume of its source, which is kept until no clone waits', async () => {
  await using fixture = await withSource();
  await fixture.makeClaim({ name: 'copy', spec: cloneSpec() });
  await fixture.provisioned('copy');
  const { volumeContentSource } = fixture.driver.callsOf('CreateVolume').at(-1) as CsiRequest<'CreateVolume'>;
  const source = await fixture.base.claim('source');
  expect(volumeContentSource?.type).toMatchObject({
    case: 'volume',
    value: { volumeId: `id-pvc-${source?.metadata?.uid}` },
  });
  expect(source?.metadata?.finalizers).toContain(cloningFinalizer);
  await fixture.base.deleteClaim('source');
  await fixture.base.settle();
  expect(await fixture.base.claim('source'), 'the clone is not bound yet').toBeDefined();
  await fixture.base.deleteClaim('copy');
  await fixture.base.until(async () => (await fixture.base.claim('source')) === undefined);
});

test.each<[string, PersistentVolumeClaim['spec'], string]>([
  ['smaller', cloneSpec({ resources: { requests: { storage: '1Gi' } } }), 'needs at least 2Gi'],
  ['of another mode', cloneSpec({ volumeMode: 'Block' }), 'volumeMode Filesystem'],
  ['of a missing claim', cloneSpec({ dataSource: { ...ofClaim, name: 'none' } }), 'does not exist'],
  ['of another kind', { dataSourceRef: { apiGroup: 'x.io', kind: 'Thing', name: 'y' } }, 'populator'],
  [
    'of a snapshot, which is not served',
    cloneSpec({ dataSource: ofSnapshot }),
    'does not serve VolumeSnapshots',
  ],
])('a volume %s is refused', async (_, spec, problem) => {
  await using fixture = await withSource();
  await fixture.makeClaim({ name: 'copy', spec: spec ?? {} });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining(problem)]);
  expect(fixture.driver.callsOf('CreateVolume').length).toBe(1);
  expect((await fixture.base.claim('copy'))?.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
});

test('a clone waits until its source is bound', async () => {
  await using fixture = await CsiProvisionerFixture.start({ driver: { controllerCapabilities } });
  fixture.run();
  await fixture.base.makeClaim({ name: 'source' });
  await fixture.makeClaim({ name: 'copy', spec: cloneSpec() });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('is not bound yet')]);
});

test('a driver that cannot clone is not asked', async () => {
  const driver = { controllerCapabilities: ['CREATE_DELETE_VOLUME'] as const };
  await using fixture = await withSource({ driver });
  await fixture.makeClaim({ name: 'copy', spec: cloneSpec() });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('cannot clone volumes')]);
});
