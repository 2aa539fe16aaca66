import { describe, expect, test } from 'vitest';
import type { Pod, Volume } from '../../kube/api/core.ts';
import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import { closestMiss } from '../explain/closest-miss.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../testing/expect-plan.ts';
import { csiDriver, drive, driveNode, gib, inlineVolume, pod } from '../testing/objects.ts';
import { Ledger } from './ledger.ts';

const driver = 'drives.stowage.dev';

function cluster(drives: readonly Drive[], pods: readonly Pod[] = []): ClusterObjects {
  return { CSIDriver: [csiDriver(driver)], Node: [driveNode('n1')], Drive: drives, Pod: pods };
}

function scratch(size: string, attributes: Record<string, string> = {}, name = 'scratch'): Volume {
  const volume = inlineVolume(name, driver, size);
  return { ...volume, csi: { ...volume.csi!, volumeAttributes: attributes } };
}

function podWith(name: string, volumes: readonly Volume[], nodeName?: string, version = '1'): Pod {
  const object = pod(name, [], { volumes: [...volumes], ...(nodeName !== undefined && { nodeName }) });
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}

function entry(podName: string, sizeGib: number, name = `csi-${podName}`): DriveVolume {
  return {
    name,
    sizeBytes: gib(sizeGib),
    podRef: { namespace: 'default', name: podName, uid: `uid-${podName}` },
  };
}

const free = (index: ReturnType<typeof clusterOf>, name: string) =>
  index.pools.available(index.pools.row(`Drive ${name}`)!).bytes / gib(1);

const withEntries = (name: string, sizeGib: number, version: string, volumes: readonly DriveVolume[]) =>
  drive(name, sizeGib, { version, spec: { volumes } });

describe('an inline volume on drives', () => {
  test('is counted against one drive, and refused as an inline volume', () => {
    const index = clusterOf(cluster([drive('a', 10), drive('b', 12)]));
    expect(expectPlacement(index, podWith('p', [scratch('8Gi')])).inlineVolumes).toMatchObject([
      { volume: 'default/p:scratch', pool: { name: 'b', isDrive: true } },
    ]);
    const refusal = expectRefusal(index, podWith('p', [scratch('14Gi')]));
    expect(refusal.message).toContain('did not have enough free storage');
    expect(closestMiss(refusal)).toContain('inline volume scratch, drive b');
  });

  test('has its size in the attribute of older clusters too', () => {
    const index = clusterOf(cluster([drive('a', 10)]));
    const volume = (size: string): Volume => {
      return { name: 'scratch', csi: { driver, volumeAttributes: { 'csi.storage.k8s.io/size': size } } };
    };
    expectPlacement(index, podWith('p', [volume('10Gi')]));
    expectRefusal(index, podWith('p', [volume('11Gi')]));
  });

  test('needs a size, which the node service takes as an attribute of its own too', () => {
    const index = clusterOf(cluster([drive('a', 10)]));
    const sized = (volumeAttributes: Record<string, string>) =>
      podWith('p', [{ name: 'scratch', csi: { driver, volumeAttributes } }]);
    expectPlacement(index, sized({ size: '10Gi' }));
    expectRefusal(index, sized({ size: '11Gi' }));
    expect(expectRefusal(index, sized({})).message).toContain(
      'spec.volumes[scratch].csi: a volume on a drive needs a size, such as fsSize: 10Gi',
    );
    expect(expectRefusal(index, sized({ size: 'much' })).message).toContain('volumeAttributes[size]');
  });

  test('asks for drives as a class does', () => {
    const hot = drive('hot', 10, { spec: { accessTier: 'Hot' }, labels: { rack: 'r1' } });
    const index = clusterOf(cluster([hot, drive('cold', 90, { spec: { accessTier: 'Cold' } })]));
    const chosen = (attributes: Record<string, string>) =>
      expectPlacement(index, podWith('p', [scratch('5Gi', attributes)])).inlineVolumes[0]!.pool.name;
    expect(chosen({})).toBe('cold');
    expect(chosen({ accessTier: 'hot' })).toBe('hot');
    expect(chosen({ driveLabels: 'rack=r1' })).toBe('hot');
    expectRefusal(index, podWith('p', [scratch('50Gi', { accessTier: 'Hot' })]));
    expect(expectRefusal(index, podWith('p', [scratch('5Gi', { accessTier: 'fast' })])).message).toContain(
      'spec.volumes[scratch].csi.volumeAttributes: accessTier: "fast" must be one of Default, Hot, Warm, Cold',
    );
  });

  test('fits nowhere before the first drive is added', () => {
    const index = clusterOf(cluster([]));
    const refusal = expectRefusal(index, podWith('p', [scratch('8Gi')]));
    expect([...refusal.reasons.keys()]).toEqual(['NoDriveAdded']);
    expect(refusal.wokenBy(index.upsert('Drive', drive('a', 10)).change!)).toBe(true);
    expectPlacement(index, podWith('p', [scratch('8Gi')]));
  });
});

describe('the promise of an inline volume', () => {
  test('counts once, from the reservation until the pod is gone', () => {
    const index = clusterOf(cluster([drive('a', 10)]));
    const ledger = new Ledger(index);
    const reservation = expectReservation(ledger, expectPlacement(index, podWith('p', [scratch('8Gi')])));
    expect(free(index, 'a')).toBe(2);
    index.upsert('Pod', podWith('p', [scratch('8Gi')], 'n1', '2'));
    expect(ledger.confirm(reservation)).toEqual({ kind: 'confirmed' });
    index.settle(0);
    index.settle(1e12);
    expect(free(index, 'a')).toBe(2);
    index.drainReleases();
    const { change } = index.upsert('Drive', withEntries('a', 10, '2', [entry('p', 8)]));
    expect(free(index, 'a')).toBe(2);
    expect(change?.kind === 'Drive' && change.freedPools).toEqual([]);
    expect(index.drainReleases()).toBeUndefined();
    index.remove('Pod', 'default/p');
    expect(free(index, 'a')).toBe(2);
    index.upsert('Drive', withEntries('a', 10, '3', []));
    expect(free(index, 'a')).toBe(10);
    expect([...index.promises.all()]).toEqual([]);
  });

  test('is released with a pod that goes before the node has published it', () => {
    const index = clusterOf(cluster([drive('a', 10)], [podWith('p', [scratch('8Gi')], 'n1')]));
    index.settle(0);
    const waiting = expectRefusal(index, podWith('waiting', [scratch('8Gi')]));
    const { change } = index.remove('Pod', 'default/p');
    expect(waiting.wokenBy(change!)).toBe(true);
    expect(free(index, 'a')).toBe(10);
  });

  test('follows the volume to the drive that the node has chosen', () => {
    const index = clusterOf(cluster([drive('a', 20), drive('b', 10)]));
    expectReservation(new Ledger(index), expectPlacement(index, podWith('p', [scratch('8Gi')])));
    index.upsert('Pod', podWith('p', [scratch('8Gi')], 'n1', '2'));
    expect([free(index, 'a'), free(index, 'b')]).toEqual([12, 10]);
    index.drainReleases();
    const { change } = index.upsert('Drive', withEntries('b', 10, '2', [entry('p', 8)]));
    expect([free(index, 'a'), free(index, 'b')]).toEqual([20, 2]);
    expect(change?.kind === 'Drive' && change.freedPools.map(({ name }) => name)).toContain('a');
  });

  test('of one volume stays while only another of the pod is in a ledger, however often the drive is seen', () => {
    const volumes = [scratch('4Gi', {}, 'one'), scratch('4Gi', {}, 'two')];
    const index = clusterOf(cluster([drive('a', 10)], [podWith('p', volumes, 'n1')]));
    index.settle(0);
    expect(free(index, 'a')).toBe(2);
    for (const version of ['2', '3']) {
      index.upsert('Drive', withEntries('a', 10, version, [entry('p', 4)]));
      expect(free(index, 'a')).toBe(2);
    }
    index.upsert('Drive', withEntries('a', 10, '4', [entry('p', 4), entry('p', 4, 'csi-two')]));
    expect(free(index, 'a')).toBe(2);
  });

  test('is rebuilt after a restart, in whatever order objects come, from the pod and the ledgers', () => {
    const running = podWith('p', [scratch('8Gi')], 'n1');
    const published = withEntries('b', 10, '1', [entry('p', 8)]);
    const objects: ClusterObjects = { Pod: [running], Drive: [drive('a', 10), published] };
    for (const order of [objects, { Drive: objects.Drive!, Pod: objects.Pod! }]) {
      const index = clusterOf({ ...order, Node: [driveNode('n1')] });
      index.settle(0);
      expect([free(index, 'a'), free(index, 'b')]).toEqual([10, 2]);
      const starting = clusterOf({
        ...order,
        Drive: [drive('a', 10), drive('b', 9)],
        Node: [driveNode('n1')],
      });
      starting.settle(0);
      expect([free(starting, 'a'), free(starting, 'b')]).toEqual([2, 9]);
    }
  });

  test('moves to another drive of the node if its drive is removed', () => {
    const index = clusterOf(
      cluster([drive('a', 20), drive('b', 10)], [podWith('p', [scratch('8Gi')], 'n1')]),
    );
    index.settle(0);
    expect([free(index, 'a'), free(index, 'b')]).toEqual([12, 10]);
    index.remove('Drive', 'a');
    index.settle(0);
    expect(free(index, 'b')).toBe(2);
  });
});
