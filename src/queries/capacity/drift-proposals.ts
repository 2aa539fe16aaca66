import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { DriftRecord, DriftVolumes } from '../../kube/stowage/drift-record.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf } from '../../kube/wire.ts';
import { unreachable } from '../../runtime/assert.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { readableAmount } from '../pools/amounts.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/** The possible reactions of a user to a difference: inspect, repair, or accept it. */
export function driftProposals(view: ClusterView, pool: PoolRecord, record: DriftRecord): readonly string[] {
  const look = lookText(record, readableAmount(record.difference).replace('-', ''));
  const texts = [...(look === undefined ? [] : [look]), ...listTexts(record)];
  if (record.kind === 'none' || record.kind === 'lost') return texts;
  return [...texts, `to accept the difference: ${acceptCommand(view, pool)}`];
}

const handles = "kubectl get pv -o custom-columns='PV:.metadata.name,HANDLE:.spec.csi.volumeHandle'";

function lookText({ kind, listed }: DriftRecord, amount: string): string | undefined {
  switch (kind) {
    case 'none':
    case 'lost':
      return undefined;
    case 'foreign-use':
      if ((listed?.foreign.count ?? 0) > 0) return undefined;
      return `Volumes that Kubernetes does not know use ${amount}, or the pool has shrunk. Compare the volumes that the driver lists with those of the cluster (${handles}); remove the others with the driver's own tools, or create PersistentVolumes for them.`;
    case 'leak':
      if ((listed?.leaked.count ?? 0) > 0) return undefined;
      return `${amount} did not become free when volumes were deleted. If that does not change, the driver has kept them: compare the volumes that the driver lists with those of the cluster (${handles}), and remove the others with the driver's own tools.`;
    case 'shrunk':
      if (listed !== undefined) return undefined;
      return `The pool has ${amount} less. Check its disks; volumes on a disk that is gone are lost.`;
    case 'grown':
      return `${amount} more is free than expected. If the pool was not extended and no other volume was removed, a volume of the cluster may be gone: compare the volumes that the driver lists with those of the cluster (${handles}). Drivers of thin pools report more until bytes are written.`;
    default:
      return unreachable(kind);
  }
}

/** The differences that the driver's list of volumes shows. */
function listTexts({ listed }: DriftRecord): readonly string[] {
  if (listed === undefined) return [];
  const { foreign, leaked, lost, shrunk } = listed;
  const texts = [
    foreign.count > 0 &&
      `The driver lists ${countText(foreign)} that the cluster does not know: ${namesText(foreign)}. Remove them with the driver's own tools, or create PersistentVolumes for them.`,
    leaked.count > 0 &&
      `The driver lists ${countText(leaked)} without the PersistentVolume that there was: ${namesText(leaked)}. If no other cluster uses the driver, and you need the data no more, remove them with the driver's own tools.`,
    lost.count > 0 &&
      `The driver does not list the volumes of some PersistentVolumes (${readableAmount(lost.storage)}): ${namesText(lost)}. Their data may be lost: check the driver and its disks before you delete anything.`,
    shrunk !== '0' &&
      `The pool has ${readableAmount(shrunk)} less, and the driver lists no volume that explains it. Check its disks; volumes on a disk that is gone are lost.`,
  ];
  return texts.filter((text) => text !== false);
}

function countText({ count, storage }: DriftVolumes): string {
  return `${count} volume${count === 1 ? '' : 's'} (${readableAmount(storage)})`;
}

function namesText({ count, volumes }: DriftVolumes): string {
  const names = volumes.map(({ id, storage }) => `${printableText(id)} (${readableAmount(storage)})`);
  const more = count - volumes.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Removes the record: then the next capacity report is the baseline. */
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
