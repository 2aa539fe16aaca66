import type { HistorySample } from './history.ts';
import type { RowStore } from './row-store.ts';

/** What the history records: for each class the bytes of its pools and volumes, and how many pods wait and run. */
export function capacitySample(rows: RowStore): HistorySample {
  const groups = new Map<string, Map<string, number | null>>();
  const add = (group: string, name: string, amount: number) => {
    const values = groups.get(group) ?? new Map<string, number | null>();
    groups.set(group, values);
    values.set(name, (values.get(name) ?? 0) + amount);
  };
  addPools(rows, add);
  for (const { row } of rows.values('volume')) {
    if (row.isProvisioned) continue;
    const group = `volumes${ofClass(row.storageClass)}`;
    add(group, row.phase === 'Available' ? 'free' : 'used', row.sizeBytes);
  }
  for (const { row } of rows.values('disk')) {
    if (row.limitBytes === null) continue;
    add('disks', 'used', row.scheduledBytes);
    add('disks', 'promised', row.pendingBytes);
    add('disks', 'free', Math.max(0, row.limitBytes - row.scheduledBytes));
  }
  const waiting = new Set(['pending', 'gated', 'binding', 'starting']);
  for (const { row } of rows.values('pod')) {
    if (row.state === 'running') add('pods', 'running', 1);
    else if (waiting.has(row.state)) add('pods', 'waiting', 1);
  }
  return groups;
}

function ofClass(storageClass: string): string {
  return storageClass === '' ? ' without a class' : ` of class ${storageClass}`;
}

/** Pools on the same disks count once for each class. */
function addPools(rows: RowStore, add: (group: string, name: string, amount: number) => void): void {
  const counted = new Set<string>();
  for (const { row } of rows.values('pool')) {
    if (row.isSummary) continue;
    const group = row.source === 'Drive' ? 'drives' : `pools${ofClass(row.storageClass)}`;
    const backing = `${group}\0${row.backing}`;
    if (counted.has(backing)) continue;
    counted.add(backing);
    add(group, 'used', row.usedBytes ?? 0);
    add(group, 'promised', row.promisedBytes);
    add(group, 'free', Math.max(0, row.freeBytes));
  }
}
