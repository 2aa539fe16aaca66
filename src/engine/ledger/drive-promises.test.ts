import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../testing/expect-plan.ts';
import { boundClaim, claim, csiClass, csiDriver, drive, driveNode, gib, pod } from '../testing/objects.ts';
import { Ledger } from './ledger.ts';

const driver = 'drives.stowage.dev';

function cluster(drives: readonly Drive[], claims: readonly PersistentVolumeClaim[]): ClusterObjects {
  return {
    StorageClass: [csiClass(driver, 'local')],
    CSIDriver: [csiDriver(driver)],
    Node: [driveNode('n1')],
    Drive: drives,
    PersistentVolumeClaim: claims,
  };
}

describe('the promise of a claim', () => {
  const other = claim('other', '6Gi', {});
  const waiting = pod('waiting', ['other']);

  function inFlight() {
    const data = claim('data', '6Gi', {});
    const index = clusterOf(cluster([drive('a', 10)], [data, other]));
    const ledger = new Ledger(index);
    const placement = expectPlacement(index, pod('p', ['data']));
    const reservation = expectReservation(ledger, placement);
    const uid = data.metadata!.uid!;
    const marks = { [annotations.selectedNode]: 'n1', [annotations.drive]: 'a' };
    const selected = { ...data, metadata: { ...data.metadata, resourceVersion: '2', annotations: marks } };
    const entry = {
      name: `pvc-${uid}`,
      sizeBytes: gib(6),
      claimRef: { namespace: 'default', name: 'data', uid },
    };
    return { index, ledger, reservation, selected, entry };
  }
  const free = (index: ReturnType<typeof clusterOf>, name: string) =>
    index.pools.available(index.pools.row(`Drive ${name}`)!).bytes / gib(1);

  test('counts once, from the reservation until after the ledger has the volume', () => {
    const { index, selected, entry } = inFlight();
    expect(free(index, 'a')).toBe(4);
    index.upsert('PersistentVolumeClaim', selected);
    expect(free(index, 'a')).toBe(4);
    expectRefusal(index, waiting);
    const { change } = index.upsert('Drive', drive('a', 10, { version: '2', spec: { volumes: [entry] } }));
    expect(free(index, 'a')).toBe(4);
    expect(change?.kind === 'Drive' && change.freedPools).toEqual([]);
    expect(index.drainReleases()).toBeUndefined();
    index.upsert('PersistentVolumeClaim', {
      ...boundClaim('data', '6Gi', 'pv'),
      metadata: { ...selected.metadata, ...boundClaim('data', '6Gi', 'pv').metadata, resourceVersion: '3' },
    });
    expect(free(index, 'a')).toBe(4);
    // The volume is deleted: nothing is promised any more.
    index.upsert('Drive', drive('a', 10, { version: '3' }));
    expect(free(index, 'a')).toBe(10);
  });

  test('outlives a bound claim until the event of the drive comes', () => {
    const { index, selected, entry } = inFlight();
    index.upsert('PersistentVolumeClaim', selected);
    const bound = boundClaim('data', '6Gi', 'pv');
    const metadata = { ...selected.metadata, ...bound.metadata, resourceVersion: '3' };
    index.upsert('PersistentVolumeClaim', { ...bound, metadata });
    index.settle(0);
    expect(free(index, 'a')).toBe(4);
    index.upsert('Drive', drive('a', 10, { version: '2', spec: { volumes: [entry] } }));
    expect(free(index, 'a')).toBe(4);
    expect([...index.promises.all()]).toEqual([]);
  });

  test('follows the volume to another drive, and frees the planned one', () => {
    const { index, selected, entry } = inFlight();
    index.upsert('PersistentVolumeClaim', selected);
    index.drainReleases();
    const { change } = index.upsert('Drive', drive('b', 7, { spec: { volumes: [entry] } }));
    expect([free(index, 'a'), free(index, 'b')]).toEqual([10, 1]);
    expect(change?.kind === 'Drive' && change.freedPools.map(({ name }) => name)).toContain('a');
  });

  test('is rebuilt after a restart from the drive that the claim names', () => {
    const { selected } = inFlight();
    const index = clusterOf(cluster([drive('0', 10), drive('a', 10)], [selected, other]));
    index.settle(0);
    expect([free(index, '0'), free(index, 'a')]).toEqual([10, 4]);
  });
});
