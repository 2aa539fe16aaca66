/** A cluster for tests of the ledger, with so little storage that pods compete. */
import { Ledger } from '../ledger/ledger.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { claim, csiClass, csiDriver, localVolume, node, storageCapacity, storageClass } from './objects.ts';

/** Class `local` has one volume of 5Gi on n1; class `made` has a pool of 10Gi. Each class has two claims. */
export const scarceObjects: ClusterObjects = {
  Node: [node('n1'), node('n2')],
  StorageClass: [storageClass('local'), csiClass('disk.csi', 'made')],
  CSIDriver: [csiDriver('disk.csi')],
  CSIStorageCapacity: [storageCapacity('net', 'made', { capacity: '10Gi' })],
  PersistentVolume: [localVolume('v1', '5Gi', 'n1')],
  PersistentVolumeClaim: [
    claim('data', '5Gi'),
    claim('other', '5Gi'),
    claim('new', '6Gi', { className: 'made' }),
    claim('newer', '6Gi', { className: 'made' }),
  ],
};

export function ledgerFixture(objects: ClusterObjects = scarceObjects) {
  const index = clusterOf(objects);
  return { index, ledger: new Ledger(index) };
}
