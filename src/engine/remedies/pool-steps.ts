import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import {
  addQuantities,
  canonicalQuantity,
  parseQuantity,
  quantityFromBytes,
} from '../../kube/quantities/quantity.ts';
import type { DriverCapacity, StoragePool } from '../../kube/stowage/driver-capacity.ts';
import { lookUpInlinePools, lookUpPools, type PoolLookup } from '../cluster-index/pools/pool-lookup.ts';
import { publishedCapacity } from '../cluster-index/pools/published-capacity-reports.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { PoolRecord } from '../records/pool-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { changing, type RemedyEdit, type RemedyStep } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

/** A node rarely reaches more than one pool of a class, so a few are enough. */
const poolsMax = 4;

/** Grows each pool that this node reaches by more than enough; the search then finds the least amount. */
export function growPoolSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const { index, node, record } = whatIf;
  const pools = poolsFor(whatIf, finding);
  const row = index.nodes.row(node);
  if (pools.kind !== 'pools' || row === undefined) return [];
  const wanted = record.claims.reduce(
    (sum, { key }) => sum + (index.claims.get(key)?.request?.bytes ?? 0),
    0,
  );
  const inline = record.inlineVolumes.reduce((sum, { size }) => sum + (size?.bytes ?? 0), 0);
  return [...index.pools.partitionFor(pools.entry, index.nodes.rowCount).itemsAt(row)]
    .slice(0, poolsMax)
    .flatMap((at) => {
      const pool = index.pools.record(at);
      // The capacity of a drive is what its filesystem holds: it does not grow.
      if (pool.form === 'Drive') return [];
      const promised = publishedCapacity(pool).bytes - index.pools.available(at).bytes;
      const enough = Math.ceil(wanted + inline + Math.max(0, promised));
      return Number.isSafeInteger(enough) && enough > 0 ? [growPoolBy(pool, enough)] : [];
    });
}

/** Each cordoned drive of the node that the volume may use. */
export function uncordonDriveSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const { index, node } = whatIf;
  const pools = poolsFor(whatIf, finding);
  const row = index.nodes.row(node);
  if (pools.kind !== 'pools' || row === undefined) return [];
  return [...index.pools.partitionFor(pools.entry, index.nodes.rowCount).itemsAt(row)]
    .map((at) => index.pools.record(at))
    .filter(({ drive }) => drive?.exclusion === 'Cordoned')
    .slice(0, poolsMax)
    .map(({ object }) => ({
      action: 'UncordonDrive',
      scope: '',
      object: { kind: 'Drive', name: object },
      amount: 1,
      unit: 'changes',
      names: [],
      edits: [
        changing('Drive', object, (drive) => ({ ...drive, spec: { ...drive.spec, unschedulable: false } })),
      ],
    }));
}

function poolsFor({ index, record }: WhatIf, { claim = '' }: Finding): PoolLookup {
  const asked = index.claims.get(claim);
  const storageClass = index.classes.get(asked?.className ?? '');
  if (asked !== undefined && storageClass !== undefined)
    return lookUpPools(index, storageClass.provisioner, asked.className);
  const inline = record.inlineVolumes.find(({ volumeName }) => claim === `${record.key}:${volumeName}`);
  return inline === undefined ? { kind: 'none' } : lookUpInlinePools(index, inline);
}

function growPoolBy(pool: PoolRecord, amount: number): RemedyStep {
  const from = publishedCapacity(pool).bytes;
  return {
    action: 'GrowPool',
    scope: '',
    object: { kind: pool.form, name: pool.driver === undefined ? pool.name : `${pool.driver}/${pool.name}` },
    amount,
    unit: 'bytes',
    from,
    to: from + amount,
    names: [pool.storageClass],
    edits: [editOf(pool, amount)],
    withAmount: (other) => growPoolBy(pool, other),
  };
}

function editOf(pool: PoolRecord, amount: number): RemedyEdit {
  if (pool.driver === undefined) {
    return changing('CSIStorageCapacity', pool.name, (object) => grownCapacity(object, amount));
  }
  return changing('DriverCapacity', pool.object, (object) => grownDriverPool(object, pool, amount));
}

function grownCapacity(object: CSIStorageCapacity, amount: number): CSIStorageCapacity {
  const { capacity, maximumVolumeSize } = object;
  const hasLimit = maximumVolumeSize !== undefined && maximumVolumeSize !== null;
  const hasFree = capacity !== undefined && capacity !== null;
  // A separate maximum volume size is a limit of the driver: added storage does not raise it.
  const followsFree = hasLimit && (!hasFree || isSameQuantity(capacity, maximumVolumeSize));
  return {
    ...object,
    ...((hasFree || !hasLimit) && { capacity: plus(capacity, amount) }),
    ...(followsFree && { maximumVolumeSize: plus(maximumVolumeSize, amount) }),
  };
}

function grownDriverPool(object: DriverCapacity, pool: PoolRecord, amount: number): DriverCapacity {
  const grown = (entry: StoragePool): StoragePool =>
    entry.name === pool.name ? { ...entry, capacity: plus(entry.capacity, amount) } : entry;
  const storage = nonNullItems(object.status?.storage).map((entry) =>
    entry.storageClassName === pool.storageClass
      ? { ...entry, pools: nonNullItems(entry.pools).map(grown) }
      : entry,
  );
  return { ...object, status: { ...object.status, storage } };
}

function isSameQuantity(a: unknown, b: unknown): boolean {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left.ok && right.ok && canonicalQuantity(left.quantity) === canonicalQuantity(right.quantity);
}

function plus(quantity: unknown, bytes: number): string {
  const parsed = parseQuantity(quantity);
  const more = quantityFromBytes(bytes);
  return canonicalQuantity(parsed.ok ? addQuantities(parsed.quantity, more) : more);
}
