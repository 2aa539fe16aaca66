/** Random storage that the engine's own tests do not generate, because it follows from what a real server and real drivers do. */
import fc from 'fast-check';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import { sometimes } from '../../../src/engine/testing/random/chance.ts';
import { type MutationPatch, mergePatched } from '../../../src/engine/testing/random/mutations.ts';
import { classNames, drivers, rack, volumeNames, zones } from '../../../src/engine/testing/random/names.ts';
import type { PersistentVolumeClaim } from '../../../src/kube/api/core.ts';
import type { KubeObject, LabelSelector } from '../../../src/kube/api/meta.ts';
import type { CSINode } from '../../../src/kube/api/storage.ts';
import { annotations, labels } from '../../../src/kube/well-known.ts';

/** CSI drivers that replaced in-tree volume plugins. */
const migratedDrivers = [
  'pd.csi.storage.gke.io',
  'disk.csi.azure.com',
  'cinder.csi.openstack.org',
  'pxd.portworx.com',
];
const regions = fc.constantFrom('r1', 'r2', 'r1__r2');
const subscription = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks';

/** Removes the source of the volume, so that another can replace it. */
const noSource = { csi: null, awsElasticBlockStore: null };
const arbSource = fc.oneof(
  fc.constantFrom('disk-1', 'disk-2').map((pdName) => ({ gcePersistentDisk: { pdName } })),
  fc.constantFrom('d1', 'd2').map((diskName) => ({
    azureDisk: { diskName, diskURI: `${subscription}/${diskName}`, kind: 'Managed' },
  })),
  fc.constantFrom('x1', 'x2').map((volumeID) => ({ cinder: { volumeID } })),
  fc.constantFrom('x1', 'x2').map((volumeID) => ({ portworxVolume: { volumeID } })),
  fc.constant({ nfs: { server: 's', path: '/' } }),
  fc.constant({ local: { path: '/disk' } }),
  fc.constantFrom('vol-1', 'aws://a/vol-1').map((volumeID) => ({ awsElasticBlockStore: { volumeID } })),
);

const volumePatches: fc.Arbitrary<MutationPatch> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(arbSource, sometimes(40, fc.constantFrom('a', 'b', 'a__b')))
      .map(([source, zone]) => ({
        spec: { ...noSource, ...source },
        ...(zone !== undefined && { metadata: { labels: { [labels.zone]: zone } } }),
      })),
  },
  { weight: 2, arbitrary: regions.map((region) => ({ metadata: { labels: { [labels.region]: region } } })) },
  {
    weight: 1,
    arbitrary: regions.map((region) => ({ metadata: { labels: { [labels.betaRegion]: region } } })),
  },
  { weight: 1, arbitrary: fc.constant({ status: { phase: 'Failed' } }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('c1', 'c2', 'o1')
      .map((name) => ({ spec: { claimRef: { namespace: 'blue', name, uid: null } } })),
  },
  // Once bound and then released, or reserved for a claim by name only.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('c1', 'c2', 'c3'), fc.constantFrom('Available', 'Bound', 'Released'))
      .map(([name, phase]) => ({
        spec: { claimRef: { namespace: 'default', name, uid: null } },
        status: { phase },
      })),
  },
);

const claimPatches: fc.Arbitrary<MutationPatch> = fc.oneof(
  fc
    .constantFrom(...classNames, 'gone', '')
    .map((name) => ({ metadata: { annotations: { [annotations.betaStorageClass]: name } } })),
  fc.constantFrom('imm', 'gone', '').map((storageClassName) => ({ spec: { storageClassName } })),
  fc.constant({ spec: { storageClassName: null } }),
  fc.constant({ metadata: { annotations: { [annotations.bindCompleted]: 'yes' } } }),
  fc.constant({ metadata: { annotations: { [annotations.bindCompleted]: null } } }),
  fc.constantFrom(...volumeNames, 'gone').map((volumeName) => ({ spec: { volumeName } })),
  fc.constant({ metadata: { annotations: { [annotations.selectedNode]: 'gone' } } }),
  fc.constant({ status: { phase: 'Lost' } }),
);

const topologyKeys = [labels.zone, rack, labels.hostname, labels.betaZone, 'topology.ebs.csi.aws.com/zone'];
const valuesOf = (key: string) =>
  key === rack ? ['1', '2', '3'] : key === labels.hostname ? ['n1', 'n2', 'n3', 'n4'] : zones;

const arbTopology = fc
  .uniqueArray(
    fc
      .constantFrom(...topologyKeys)
      .chain((key) =>
        fc
          .uniqueArray(fc.constantFrom(...valuesOf(key)), { minLength: 1, maxLength: 2 })
          .map((values) => ({ key, values })),
      ),
    { minLength: 1, maxLength: 2, selector: ({ key }) => key },
  )
  .map((matchLabelExpressions) => ({ matchLabelExpressions }));

const classPatches: fc.Arbitrary<MutationPatch> = fc.oneof(
  fc.array(arbTopology, { minLength: 1, maxLength: 2 }).map((allowedTopologies) => ({ allowedTopologies })),
  fc
    .constantFrom(
      'kubernetes.io/gce-pd',
      'kubernetes.io/azure-disk',
      'kubernetes.io/cinder',
      'absent.example.com',
    )
    .map((provisioner) => ({ provisioner })),
);

const capacityPatches: fc.Arbitrary<MutationPatch> = fc.oneof(
  fc
    .constantFrom<LabelSelector>(
      { matchExpressions: [{ key: labels.zone, operator: 'In', values: ['a', 'b'] }] },
      { matchExpressions: [{ key: rack, operator: 'DoesNotExist' }] },
      { matchLabels: { [labels.zone]: 'a' }, matchExpressions: [{ key: rack, operator: 'Exists' }] },
      { matchExpressions: [{ key: 'gone', operator: 'NotIn', values: ['x'] }] },
    )
    .map((nodeTopology) => ({
      nodeTopology: { matchLabels: null, matchExpressions: null, ...nodeTopology },
    })),
  fc.constantFrom('1Gi', '2Gi', '3Gi').map((maximumVolumeSize) => ({ maximumVolumeSize })),
  fc.constantFrom('0', '1Gi', '3Gi').map((capacity) => ({ capacity })),
);

const attachmentPatches: fc.Arbitrary<MutationPatch> = fc.oneof(
  fc.constantFrom('ebs.csi.aws.com', ...migratedDrivers).map((attacher) => ({ spec: { attacher } })),
  fc.tuple(fc.constantFrom(...drivers), fc.constantFrom('h1', 'h7')).map(([driver, volumeHandle]) => ({
    spec: {
      attacher: driver,
      source: {
        persistentVolumeName: null,
        inlineVolumeSpec: { csi: { driver, volumeHandle }, accessModes: ['ReadWriteOnce'] },
      },
    },
  })),
);

/** The CSI drivers of migrated in-tree plugins, on nodes that have any. */
const arbMigratedDrivers = fc
  .tuple(
    ...migratedDrivers.map((name) =>
      sometimes(40, fc.tuple(fc.constant(name), fc.constantFrom(0, 1, 1, 2, undefined))),
    ),
  )
  .map((drawn) =>
    drawn
      .filter((one) => one !== undefined)
      .map(([name, count]) => ({
        name,
        nodeID: 'node',
        ...(count !== undefined && { allocatable: { count } }),
      })),
  );

const arbMigrated = fc
  .subarray(['gce-pd', 'aws-ebs', 'cinder', 'azure-disk', 'portworx-volume'], { minLength: 1 })
  .map((plugins) => plugins.map((plugin) => `kubernetes.io/${plugin}`).join());

export function arbStorageVariants(objects: ClusterObjects): fc.Arbitrary<ClusterObjects> {
  return fc.record({
    ...constants(objects),
    PersistentVolume: some(12, objects.PersistentVolume ?? [], volumePatches),
    PersistentVolumeClaim: fc
      .tuple(some(6, objects.PersistentVolumeClaim ?? [], claimPatches), arbOtherNamespace(objects))
      .map(([own, elsewhere]) => [...own, ...elsewhere]),
    StorageClass: some(12, objects.StorageClass ?? [], classPatches),
    CSIStorageCapacity: some(15, objects.CSIStorageCapacity ?? [], capacityPatches),
    VolumeAttachment: some(25, objects.VolumeAttachment ?? [], attachmentPatches),
    CSINode: fc.tuple(...(objects.CSINode ?? []).map(arbMoreDrivers)),
  }) as fc.Arbitrary<ClusterObjects>;
}

function constants(objects: ClusterObjects): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(Object.entries(objects).map(([kind, list]) => [kind, fc.constant(list)]));
}

function some<T extends KubeObject>(
  percent: number,
  objects: readonly T[],
  patches: fc.Arbitrary<MutationPatch>,
): fc.Arbitrary<T[]> {
  return fc.tuple(
    ...objects.map((object) =>
      sometimes(percent, patches).map((patch) =>
        patch === undefined ? object : mergePatched(object, patch),
      ),
    ),
  );
}

/** Claims with the same names in the other namespace. */
function arbOtherNamespace({
  PersistentVolumeClaim: claims = [],
}: ClusterObjects): fc.Arbitrary<PersistentVolumeClaim[]> {
  return sometimes(25, fc.subarray([...claims])).map((chosen) =>
    (chosen ?? []).map((claim) => ({ ...claim, metadata: { ...claim.metadata, namespace: 'blue' } })),
  );
}

function arbMoreDrivers(csiNode: CSINode): fc.Arbitrary<CSINode> {
  return fc
    .tuple(sometimes(50, arbMigratedDrivers), sometimes(40, arbMigrated))
    .map(([more = [], migrated]) => {
      const { metadata, spec } = csiNode;
      return {
        metadata:
          migrated === undefined
            ? { ...metadata }
            : { ...metadata, annotations: { [annotations.migratedPlugins]: migrated } },
        spec: { drivers: [...(spec?.drivers ?? []), ...more] },
      };
    });
}
