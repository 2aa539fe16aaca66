import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterObjects } from '../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../testing/expect-plan.ts';
import { removed, upserted } from '../testing/index-events.ts';
import { ledgerFixture } from '../testing/ledger-fixture.ts';
import {
  attachment,
  atVersion,
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  csiNode,
  labelIn,
  node,
  pod,
  storageCapacity,
  storageClass,
  volume,
} from '../testing/objects.ts';
import { expectWakeCases } from '../testing/wake-cases.ts';
import { plan } from '../testing/whole-engine.ts';

const data = pod('p', ['data']);
const driver = 'disk.csi';

describe('attach slots', () => {
  const csi = (name: string, phase = 'Bound'): PersistentVolume =>
    volume(name, '5Gi', { phase, spec: { csi: { driver, volumeHandle: name } } });
  const running = pod('old', ['theirs'], { nodeName: 'n1' });
  const full: ClusterObjects = {
    CSINode: [csiNode('n1', { [driver]: 1 })],
    PersistentVolume: [csi('v1'), csi('v2')],
    PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1'), boundClaim('theirs', '5Gi', 'v2')],
    Pod: [running],
  };
  const attached: ClusterObjects = {
    ...full,
    Pod: [],
    VolumeAttachment: [attachment('x', 'n1', driver, 'v2')],
  };
  const waiting: ClusterObjects = {
    ...full,
    StorageClass: [storageClass('local')],
    PersistentVolume: [csi('v1', 'Available'), csi('v2')],
    PersistentVolumeClaim: [claim('data', '5Gi'), boundClaim('theirs', '5Gi', 'v2')],
  };
  const inline = pod('old', [], {
    nodeName: 'n1',
    volumes: [{ name: 'd', awsElasticBlockStore: { volumeID: 'vol-1' } }],
  });
  const served = { annotations: { [annotations.migratedPlugins]: 'kubernetes.io/aws-ebs' } };
  const ebs: ClusterObjects = {
    CSINode: [csiNode('n1', { 'ebs.csi.aws.com': 1 }, served)],
    StorageClass: [csiClass('ebs.csi.aws.com', 'local')],
    PersistentVolumeClaim: [claim('data', '5Gi')],
    Pod: [inline],
  };
  const ebsDriver = 'ebs.csi.aws.com';
  const csiOf = (name: string, owner: string): PersistentVolume =>
    volume(name, '5Gi', { phase: 'Bound', spec: { csi: { driver: owner, volumeHandle: name } } });
  const attachedEbs: ClusterObjects = { VolumeAttachment: [attachment('x', 'n1', ebsDriver, 'v4')] };
  const inTree = volume('v3', '5Gi', {
    phase: 'Bound',
    spec: { awsElasticBlockStore: { volumeID: 'vol-3' } },
  });
  expectWakeCases([
    {
      name: 'that a deleted pod leaves wake the pod',
      cluster: full,
      event: removed('Pod', 'default/old'),
      wakes: true,
    },
    {
      name: 'that a finished pod leaves do',
      cluster: full,
      event: upserted('Pod', { ...atVersion('2', running), status: { phase: 'Succeeded' } }),
      wakes: true,
    },
    {
      name: 'that a deleted pod leaves wake a pod whose volume is still to be chosen',
      cluster: waiting,
      event: removed('Pod', 'default/old'),
      wakes: true,
    },
    {
      name: 'that a deleted pod with an inline disk leaves do',
      cluster: ebs,
      event: removed('Pod', 'default/old'),
      wakes: true,
    },
    {
      name: 'are not left by a pod without volumes',
      cluster: { ...full, Pod: [running, pod('idle', [], { nodeName: 'n1' })] },
      event: removed('Pod', 'default/idle'),
      wakes: false,
    },
    {
      name: 'that a detached volume leaves do',
      cluster: attached,
      event: removed('VolumeAttachment', 'x'),
      wakes: true,
    },
    {
      name: 'that a detached volume leaves wake a pod whose volume is still to be chosen',
      cluster: { ...waiting, Pod: [], VolumeAttachment: [attachment('x', 'n1', driver, 'v2')] },
      event: removed('VolumeAttachment', 'x'),
      wakes: true,
    },
    {
      name: 'that a detached disk leaves wake a pod with an in-tree disk of its plugin',
      cluster: {
        CSINode: [csiNode('n1', { 'ebs.csi.aws.com': 1 }, served)],
        PersistentVolume: [
          inTree,
          volume('v4', '5Gi', {
            phase: 'Bound',
            spec: { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-4' } },
          }),
        ],
        PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v3')],
        VolumeAttachment: [attachment('x', 'n1', 'ebs.csi.aws.com', 'v4')],
      },
      event: removed('VolumeAttachment', 'x'),
      wakes: true,
    },
    {
      name: 'of any driver do: an attachment counts for the driver of its volume, which may be any',
      cluster: {
        ...attached,
        VolumeAttachment: [...attached.VolumeAttachment!, attachment('y', 'n1', 'other.csi', 'v9')],
      },
      event: removed('VolumeAttachment', 'y'),
      wakes: true,
    },
    {
      name: 'that a detached disk leaves wake a pod that names its own disk inline',
      cluster: { ...ebs, Pod: [], PersistentVolume: [csiOf('v4', ebsDriver)], ...attachedEbs },
      pod: { ...inline, spec: { volumes: inline.spec!.volumes! } },
      event: removed('VolumeAttachment', 'x'),
      wakes: true,
    },
    {
      name: 'of any driver wake a pod that names its own disk inline, too',
      cluster: { ...ebs, VolumeAttachment: [attachment('y', 'n1', 'other.csi', 'v9')] },
      pod: pod('p', [], { volumes: [{ name: 'd', awsElasticBlockStore: { volumeID: 'vol-2' } }] }),
      event: removed('VolumeAttachment', 'y'),
      wakes: true,
    },
    {
      name: 'were never taken by a pod that had no node',
      cluster: { ...full, Pod: [running, pod('waiting', ['theirs'])] },
      event: removed('Pod', 'default/waiting'),
      wakes: false,
    },
    {
      name: 'that a node gets more of do',
      cluster: full,
      event: upserted('CSINode', atVersion('2', csiNode('n1', { [driver]: 2 }))),
      wakes: true,
    },
    {
      name: 'of a claim that is corrected do',
      cluster: full,
      event: upserted('PersistentVolumeClaim', atVersion('2', boundClaim('data', '5Gi', 'v2'))),
      wakes: true,
    },
  ]);
});

describe('a CSINode', () => {
  const csi = (name: string): PersistentVolume =>
    volume(name, '5Gi', { phase: 'Bound', spec: { csi: { driver, volumeHandle: name } } });
  const limited = (count: number, plugins = '') =>
    csiNode('n1', { [driver]: count }, { annotations: { [annotations.migratedPlugins]: plugins } });
  const full: ClusterObjects = {
    CSINode: [limited(1)],
    PersistentVolume: [csi('v1'), csi('v2'), csi('v3')],
    PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1'), boundClaim('more', '5Gi', 'v2')],
  };
  const two = pod('p', ['data', 'more']);
  const zonal = volume('v1', '5Gi', {
    phase: 'Bound',
    terms: [labelIn('failure-domain.beta.kubernetes.io/zone', 'a')],
    spec: { gcePersistentDisk: { pdName: 'disk' } },
  });
  const migrating: ClusterObjects = {
    Node: [node('n1', { 'topology.gke.io/zone': 'a' })],
    PersistentVolume: [zonal],
    PersistentVolumeClaim: [boundClaim('data', '5Gi', 'v1')],
  };
  const gce = 'kubernetes.io/gce-pd';
  expectWakeCases([
    {
      name: 'whose limit is raised wakes the pod',
      cluster: full,
      pod: two,
      event: upserted('CSINode', atVersion('2', limited(2))),
      wakes: true,
    },
    {
      name: 'whose limit is lowered does not',
      cluster: full,
      pod: two,
      event: upserted('CSINode', atVersion('2', limited(0))),
      wakes: false,
    },
    {
      name: 'without a change that concerns pods does not',
      cluster: full,
      pod: two,
      event: upserted('CSINode', atVersion('2', limited(1))),
      wakes: false,
    },
    {
      name: 'that goes away does: without one there is no limit',
      cluster: full,
      pod: two,
      event: removed('CSINode', 'n1'),
      wakes: true,
    },
    {
      name: 'that comes and serves the plugin of the pod does',
      cluster: migrating,
      event: upserted('CSINode', limited(9, gce)),
      wakes: true,
    },
    {
      name: 'that begins to serve the plugin of the pod does',
      cluster: { ...migrating, CSINode: [limited(9)] },
      event: upserted('CSINode', atVersion('2', limited(9, gce))),
      wakes: true,
    },
    {
      name: 'that serves another plugin besides does',
      cluster: { ...migrating, CSINode: [limited(9, 'kubernetes.io/cinder')] },
      event: upserted('CSINode', atVersion('2', limited(9, `kubernetes.io/cinder,${gce}`))),
      wakes: true,
    },
    {
      name: 'that serves the same plugins as before does not',
      cluster: { ...migrating, CSINode: [limited(9, 'kubernetes.io/cinder')] },
      event: upserted('CSINode', atVersion('2', limited(9, 'kubernetes.io/cinder'))),
      wakes: false,
    },
  ]);
});

describe('a reverted reservation', () => {
  test.each([
    [
      'of a volume',
      {
        StorageClass: [storageClass('local')],
        PersistentVolume: [volume('v1', '6Gi')],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '5Gi')],
      },
    ],
    [
      'of capacity',
      {
        StorageClass: [csiClass(driver, 'local')],
        CSIDriver: [csiDriver(driver)],
        CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '6Gi' })],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '5Gi')],
      },
    ],
    [
      'of an attach slot',
      {
        StorageClass: [csiClass(driver, 'local')],
        CSINode: [csiNode('n1', { [driver]: 1 })],
        PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '5Gi')],
      },
    ],
  ] satisfies [string, ClusterObjects][])('%s wakes the pod', (_, objects) => {
    const { index, ledger } = ledgerFixture({ Node: [node('n1')], ...objects });
    const held = expectReservation(ledger, expectPlacement(index, pod('other', ['theirs'])));
    const refusal = expectRefusal(index, data);
    const change = ledger.revert(held);
    expect(change).toMatchObject({ kind: 'Release', nodeName: 'n1' });
    expect(refusal.wokenBy(change!)).toBe(true);
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('placement');
  });
});
