import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  gib,
  labelIn,
  node,
  pod,
  storageCapacity,
  volume,
  zone,
} from '../testing/objects.ts';
import { Ledger } from './ledger.ts';

const driver = 'disk.csi';
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const base: ClusterObjects = {
  Node: [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' })],
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
};

/** The capacity report of a zone. Without a time, the publisher does not say when it measured. */
function report(zoneName: string, size: string, version: string, measuredAt?: string): CSIStorageCapacity {
  const nodeTopology = { matchLabels: { [zone]: zoneName } };
  const object = storageCapacity(zoneName, 'local', { capacity: size, nodeTopology, version });
  const found = measuredAt === undefined ? {} : { [annotations.measuredAt]: measuredAt };
  return { ...object, metadata: { ...object.metadata, annotations: found } };
}

/** A volume that only this zone reaches, created at second 10. */
function volumeIn(...zones: string[]): PersistentVolume {
  return volume('pv-c', '6Gi', {
    phase: 'Bound',
    terms: [labelIn(zone, ...zones)],
    metadata: { name: 'pv-c', annotations: { [annotations.volumeCreatedAt]: at(10) } },
    spec: {
      claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' },
      persistentVolumeReclaimPolicy: 'Delete',
    },
  });
}

const selected = claim('c', '6Gi', { selectedNode: 'n1' });
const bound: PersistentVolumeClaim = boundClaim('c', '6Gi', 'pv-c', {
  metadata: {
    namespace: 'default',
    name: 'c',
    uid: 'uid-c',
    resourceVersion: '2',
    annotations: { [annotations.bindCompleted]: 'yes', [annotations.selectedNode]: 'n1' },
  },
});

/** The free capacity of the zones in GiB. */
function free({ pools }: ClusterIndex): readonly [a: number, b: number] {
  const of = (name: string) => pools.available(pools.row(`CSIStorageCapacity storage/${name}`)!).bytes;
  return [of('a') / gib(1), of('b') / gib(1)];
}

function start(...times: readonly (string | undefined)[]): ClusterIndex {
  const CSIStorageCapacity = [report('a', '10Gi', '1', times[0]), report('b', '10Gi', '1', times[0])];
  const index = clusterOf({ ...base, CSIStorageCapacity, PersistentVolumeClaim: [selected] });
  index.settle(0);
  return index;
}

describe('a volume that the driver creates in another segment than that of the selected node', () => {
  test('counts in the pool of its own segment as soon as its PersistentVolume exists', () => {
    const index = start(at(0));
    expect(free(index)).toEqual([4, 10]);
    index.upsert('PersistentVolume', volumeIn('b'));
    expect(free(index)).toEqual([10, 4]);
    expect(index.drainReleases()?.pools.map(({ name }) => name)).toContain('storage/a');
    index.upsert('PersistentVolumeClaim', bound);
    expect(free(index)).toEqual([10, 4]);
  });

  test('ends with a report of that segment, and leaves nothing in the selected pool', () => {
    const index = start(at(0));
    index.upsert('PersistentVolume', volumeIn('b'));
    index.upsert('PersistentVolumeClaim', bound);
    // The report of zone a does not change, so its publisher need not measure again.
    index.upsert('CSIStorageCapacity', report('b', '4Gi', '2', at(11)));
    index.settle(1);
    index.settle(1e9);
    expect(free(index)).toEqual([10, 4]);
    expect([...index.promises.all()]).toEqual([]);
  });

  test.each([at(0), undefined])('counts there if the claim is bound first, with reports of %s', (time) => {
    const index = start(time);
    index.upsert('PersistentVolumeClaim', bound);
    index.upsert('PersistentVolume', volumeIn('b'));
    expect(free(index)).toEqual([10, 4]);
    index.upsert('CSIStorageCapacity', report('a', '9Gi', '2', time));
    expect(free(index)).toEqual([9, 4]);
    index.upsert('CSIStorageCapacity', report('b', '4Gi', '2', time && at(11)));
    expect(free(index)).toEqual([9, 4]);
  });

  test.each(['claims first', 'pools first'])('counts there after a restart, %s', (order) => {
    const CSIStorageCapacity = [report('a', '10Gi', '1', at(0)), report('b', '10Gi', '1', at(0))];
    const claims = { PersistentVolumeClaim: [bound], PersistentVolume: [volumeIn('b')] };
    const index = clusterOf(
      order === 'claims first'
        ? { ...claims, CSIStorageCapacity, ...base }
        : { ...base, CSIStorageCapacity, ...claims },
    );
    index.settle(0);
    expect(free(index)).toEqual([10, 4]);
  });

  test('counts there while the reservation of its pod continues', () => {
    const CSIStorageCapacity = [report('a', '10Gi', '1', at(0)), report('b', '9Gi', '1', at(0))];
    const index = clusterOf({ ...base, CSIStorageCapacity, PersistentVolumeClaim: [claim('c', '6Gi')] });
    const ledger = new Ledger(index);
    const answer = plan(pod('p', ['c']), index, { nowMs: 0 });
    expect(answer).toMatchObject({ kind: 'placement', node: 'n1' });
    if (answer.kind === 'placement') ledger.reserve(answer);
    expect(free(index)).toEqual([4, 9]);
    index.upsert('PersistentVolumeClaim', {
      ...selected,
      metadata: { ...selected.metadata, resourceVersion: '2' },
    });
    index.upsert('PersistentVolume', volumeIn('b'));
    expect(free(index)).toEqual([10, 3]);
  });

  test('counts there if its claim was deleted before the volume was seen', () => {
    const index = start(at(0));
    index.remove('PersistentVolumeClaim', 'default/c');
    index.upsert('PersistentVolume', volumeIn('b'));
    expect(free(index)).toEqual([10, 4]);
  });
});

test('a volume that may be in several segments counts in the selected one', () => {
  const index = start(at(0));
  index.upsert('PersistentVolume', volumeIn('a', 'b'));
  expect(free(index)).toEqual([4, 10]);
});

test('a volume of a class that does not wait for a pod counts where it is, until a report includes it', () => {
  const { metadata } = bound;
  const immediate = {
    ...bound,
    metadata: { ...metadata, annotations: { [annotations.bindCompleted]: 'yes' } },
  };
  const CSIStorageCapacity = [report('a', '10Gi', '1', at(0)), report('b', '10Gi', '1', at(0))];
  const index = clusterOf({
    ...base,
    CSIStorageCapacity,
    PersistentVolume: [volumeIn('b')],
    PersistentVolumeClaim: [immediate],
  });
  index.settle(0);
  expect(free(index)).toEqual([10, 4]);
  index.upsert('CSIStorageCapacity', report('b', '4Gi', '2', at(11)));
  expect(free(index)).toEqual([10, 4]);
});
