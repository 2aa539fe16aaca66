import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { pvBinderController } from './pv-binder.ts';
import { createObjects, type InitialObjects } from './testing/initial-objects.ts';

/** Some of everything that the binder writes. */
const work: InitialObjects = {
  classes: [
    { metadata: { name: 'fast' }, provisioner: 'disk.example.com', volumeBindingMode: 'Immediate' },
    {
      metadata: { name: 'default', annotations: { [annotations.isDefaultClass]: 'true' } },
      provisioner: 'other.example.com',
      volumeBindingMode: 'Immediate',
    },
  ],
  claims: [
    { name: 'free', className: '' },
    { name: 'named', on: 'by-hand', className: '' },
    { name: 'handed', className: 'fast' },
    { name: 'lost', on: 'gone', isComplete: true, phase: 'Bound' },
    { name: 'won', on: 'winner', isComplete: true, phase: 'Bound', className: '' },
    { name: 'reset', size: '1Ti', phase: 'Bound', className: '' },
  ],
  volumes: [
    { name: 'small' },
    { name: 'large', size: '10Gi' },
    { name: 'by-hand', size: '2Gi', phase: 'Pending' },
    { name: 'winner', for: 'won', uid: 'own' },
    { name: 'loser', size: '20Gi', for: 'won', uid: 'own', byController: true, phase: 'Bound' },
    { name: 'orphan', for: 'dead', uid: 'other', phase: 'Bound' },
    {
      name: 'undeletable',
      for: 'dead',
      uid: 'other',
      phase: 'Bound',
      policy: 'Delete',
      source: { hostPath: { path: '/mnt/disk' } },
    },
    {
      name: 'migrated',
      extraAnnotations: { [annotations.provisionedBy]: 'kubernetes.io/gce-pd' },
      size: '30Gi',
    },
  ],
};

test('a binder that crashes after any of its writes leaves nothing that the next cannot complete', async () => {
  const places = await crashControllersAtEveryWrite({
    controllers: [pvBinderController()],
    prepare: (fixture) => createObjects(fixture.cluster, work),
    resources: [persistentVolumeClaims, persistentVolumes],
  });
  expect(places).toBeGreaterThan(20);
});
