import { expect, test } from 'vitest';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import {
  claim,
  csiClass,
  csiDriver,
  drive,
  driveNode,
  gib,
  inlineVolume,
  pod,
  storageCapacity,
} from '../../engine/testing/objects.ts';
import { driveNodeKey } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { findReservations } from '../reservations/find-reservations.ts';
import { viewOf } from '../testing/cluster-views.ts';
import { PoolReader } from './pool-reader.ts';

const driver = 'drives.stowage.dev';

/** A drive with a volume, a promise to a claim and a promise to an inline volume; and a cordoned drive. */
function driveView() {
  const data = claim('data', '3Gi', { className: 'local' });
  const marks = { [annotations.selectedNode]: 'n1', [annotations.drive]: 'a' };
  const volumes = [{ name: 'pvc-0', sizeBytes: gib(4) }];
  return viewOf({
    Node: [driveNode('n1')],
    CSIDriver: [csiDriver(driver)],
    StorageClass: [csiClass(driver, 'local')],
    Drive: [
      drive('a', 20, { spec: { volumes } }),
      drive('b', 50, { spec: { volumes, unschedulable: true } }),
    ],
    PersistentVolumeClaim: [{ ...data, metadata: { ...data.metadata, annotations: marks } }],
    Pod: [pod('web', [], { nodeName: 'n1', volumes: [inlineVolume('scratch', driver, '1Gi')] })],
  });
}

test('a drive is shown with its total, used, promised and free bytes and its state', () => {
  const view = driveView();
  const { index } = view.snapshot.toIndex(stowageProfile);
  index.settle(0);
  const shown = new PoolReader(view, index, 0).all();
  const common = { source: 'Drive', storageClass: '<drives>', isOrphaned: false };
  expect(shown).toMatchObject([
    { ...common, pool: 'a', total: '20Gi', used: '4Gi', promised: '4Gi', free: '12Gi', state: 'Ready' },
    { ...common, pool: 'b', total: '50Gi', used: '4Gi', promised: '0', free: '0', state: 'Cordoned' },
  ]);
});

test('the capacity that is published of the drives of a node does not look empty', () => {
  const volumes = [{ name: 'pvc-0', sizeBytes: gib(60) }];
  const onNode = (at: string) => ({ matchLabels: { [driveNodeKey]: at } });
  const view = viewOf({
    Node: [driveNode('n1'), driveNode('n2')],
    CSIDriver: [csiDriver(driver)],
    StorageClass: [csiClass(driver, 'local')],
    Drive: [drive('a', 200, { spec: { volumes } }), drive('b', 100), drive('c', 100, { node: 'n2' })],
    CSIStorageCapacity: [
      storageCapacity('of-n1', 'local', { capacity: '240Gi', nodeTopology: onNode('n1') }),
      storageCapacity('of-n2', 'local', { capacity: '100Gi', nodeTopology: onNode('n2') }),
    ],
  });
  const { index } = view.snapshot.toIndex(stowageProfile);
  index.settle(0);
  const shown = new PoolReader(view, index, 0).all();
  expect(shown.filter(({ source }) => source === 'CSIStorageCapacity')).toMatchObject([
    { pool: 'storage/of-n1', total: '300Gi', used: '60Gi', free: '240Gi' },
    { pool: 'storage/of-n2', total: '100Gi', used: '0', free: '100Gi' },
  ]);
});

test('reservations name the claims and inline volumes that have the promises of a drive', () => {
  const { pools, inlineVolumes } = findReservations(driveView(), { nowMs: 0 });
  expect(pools).toMatchObject([
    {
      pool: 'a',
      storageClass: '<drives>',
      total: '20Gi',
      promised: '4Gi',
      claims: [{ claim: 'default/data', size: '3Gi' }],
      inlineVolumes: [{ pod: 'default/web', volume: 'scratch', size: '1Gi' }],
    },
  ]);
  expect(inlineVolumes).toMatchObject([{ pod: 'default/web', volume: 'scratch', pool: 'a' }]);
});
