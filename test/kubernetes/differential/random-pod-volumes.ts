/** Random volumes of pods: claims, and disks that the pod names itself. */
import fc from 'fast-check';
import { sometimes } from '../../../src/engine/testing/random/chance.ts';
import { drivers } from '../../../src/engine/testing/random/names.ts';
import type { PersistentVolumeClaimTemplate, Volume } from '../../../src/kube/api/core.ts';
import type { Theme } from './themes.ts';

const subscription = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks';

const arbDisk: fc.Arbitrary<Volume> = fc.oneof(
  fc.constantFrom(...drivers).map((driver) => ({ csi: { driver } })),
  fc
    .constantFrom('vol-1', 'vol-2', 'aws://a/vol-1', 'aws:///vol-2')
    .map((volumeID) => ({ awsElasticBlockStore: { volumeID } })),
  fc
    .tuple(fc.constantFrom('disk-1', 'disk-2'), fc.boolean())
    .map(([pdName, readOnly]) => ({ gcePersistentDisk: { pdName, readOnly } })),
  fc.tuple(fc.constantFrom('t1', 't2'), fc.boolean(), fc.constantFrom(0, 1)).map(([iqn, readOnly, lun]) => ({
    iscsi: { iqn: `iqn.2001-04.com.example:${iqn}`, targetPortal: '10.0.0.9:3260', lun, readOnly },
  })),
  fc
    .tuple(
      fc.uniqueArray(fc.constantFrom('m1', 'm2', 'm3'), { minLength: 1, maxLength: 2 }),
      fc.constantFrom('i1', 'i2'),
      fc.constantFrom(undefined, undefined, 'other'),
      fc.boolean(),
    )
    .map(([monitors, image, pool, readOnly]) => ({
      rbd: { monitors, image, readOnly, ...(pool !== undefined && { pool }) },
    })),
  fc.constantFrom('d1', 'd2').map((diskName) => ({
    azureDisk: { diskName, diskURI: `${subscription}/${diskName}`, kind: 'Managed' as const },
  })),
  fc.constantFrom('x1', 'x2').map((volumeID) => ({ cinder: { volumeID } })),
  fc.constantFrom('x1', 'x2').map((volumeID) => ({ portworxVolume: { volumeID } })),
  fc.constant({ emptyDir: {} }),
);

const arbDisks = fc
  .oneof({ weight: 3, arbitrary: arbDisk.map((disk) => [disk]) }, fc.tuple(arbDisk, arbDisk))
  .map((disks) => disks.map((disk, at) => ({ name: `disk${at}`, ...disk })));

export function arbVolumes(theme: Theme, names: readonly string[]): fc.Arbitrary<Volume[]> {
  return fc
    .record({
      claims: fc.oneof(
        { weight: 100 - theme.volumes, arbitrary: fc.constant<string[]>([]) },
        { weight: theme.volumes, arbitrary: fc.shuffledSubarray([...names], { minLength: 1, maxLength: 3 }) },
      ),
      missing: sometimes(Math.round(theme.volumes / 40), fc.constant('nowhere')),
      isTwice: sometimes(5, fc.constant(true)),
      readOnly: sometimes(5, fc.constant(true)),
      disks: sometimes(theme.disks, arbDisks),
    })
    .map(({ claims, missing, isTwice, readOnly, disks = [] }) => {
      const all = [...claims, ...(missing === undefined ? [] : [missing])];
      const source = (claimName: string) => ({ claimName, ...(readOnly && { readOnly }) });
      return [
        ...all.map((claimName) => ({ name: claimName, persistentVolumeClaim: source(claimName) })),
        ...(isTwice && all[0] ? [{ name: 'again', persistentVolumeClaim: source(all[0]) }] : []),
        ...disks,
      ];
    });
}

const template: PersistentVolumeClaimTemplate = {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

/** The test creates a claim for it. */
export const cacheVolume: Volume = { name: 'cache', ephemeral: { volumeClaimTemplate: template } };
