import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { DriftKind, DriftRecord } from '../../kube/drift-record.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf } from '../../kube/wire.ts';
import { unreachable } from '../../runtime/assert.ts';
import { readableAmount } from '../pools/amounts.ts';
import type { ClusterView } from '../source/cluster-view.ts';

/** What a person can do about a difference: look, repair, or accept it. */
export function driftProposals(view: ClusterView, pool: PoolRecord, record: DriftRecord): readonly string[] {
  const look = lookText(record.kind, readableAmount(record.difference).replace('-', ''));
  return look === undefined ? [] : [look, `to accept the difference: ${acceptCommand(view, pool)}`];
}

const handles = "kubectl get pv -o custom-columns='PV:.metadata.name,HANDLE:.spec.csi.volumeHandle'";

function lookText(kind: DriftKind, amount: string): string | undefined {
  switch (kind) {
    case 'none':
      return undefined;
    case 'foreign-use':
      return `Volumes that Kubernetes does not know use ${amount}, or the pool has shrunk. Compare the volumes that the driver lists with those of the cluster (${handles}); remove the others with the driver's own tools, or create PersistentVolumes for them.`;
    case 'leak':
      return `${amount} did not become free when volumes were deleted. If that does not change, the driver has kept them: compare the volumes that the driver lists with those of the cluster (${handles}), and remove the others with the driver's own tools.`;
    case 'shrunk':
      return `The pool has ${amount} less, and the driver lists no volume that the cluster does not know. Check its disks; volumes on a disk that is gone are lost.`;
    case 'grown':
      return `${amount} more is free than expected. If the pool was not extended and no other volume was removed, a volume of the cluster may be gone: compare the volumes that the driver lists with those of the cluster (${handles}). Drivers of thin pools report more until bytes are written.`;
    default:
      return unreachable(kind);
  }
}

/** Removes the record: then the next figure is the baseline. */
function acceptCommand({ snapshot }: ClusterView, pool: PoolRecord): string {
  if (pool.form === 'CSIStorageCapacity') {
    const [namespace, name] = pool.object.split('/');
    return `kubectl -n ${quoted(namespace)} annotate csistoragecapacity ${quoted(name)} ${annotations.drift}-`;
  }
  const storage = listOf(snapshot.get('DriverCapacity', pool.object)?.status?.storage);
  const at = storage.findIndex(({ storageClassName }) => storageClassName === pool.storageClass);
  const position = listOf(storage[at]?.pools).findIndex(({ name }) => name === pool.name);
  const path = `/status/storage/${at}/pools/${position}`;
  // Another pool may be at this position by then.
  const patch = [
    { op: 'test', path: `${path}/name`, value: pool.name },
    { op: 'remove', path: `${path}/drift` },
  ];
  return `kubectl patch drivercapacity ${quoted(pool.object)} --subresource=status --type=json -p ${quoted(JSON.stringify(patch))}`;
}

/** For a shell. Files may have any names. */
function quoted(text = ''): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
