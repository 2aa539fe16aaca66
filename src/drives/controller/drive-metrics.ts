import { promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { duplicateDrives } from '../../engine/drives/shared-filesystems.ts';
import type { Drive } from '../../kube/drive.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** All states that a drive may report, so that a state without drives is shown as 0. */
const states = ['Ready', 'Lost', 'Error', 'Repairing', 'Removing', 'Unknown'];

/** Counts drives whenever the metrics are read; the returned function ends that. */
export function meterDrives(metrics: Metrics, read: () => Iterable<Drive>): () => void {
  const byState = metrics.gauge('stowage_drives', 'Drives by their state.', ['state']);
  const cordoned = metrics.gauge('stowage_drives_cordoned', 'Drives that take no new volumes by a user.');
  const capacity = metrics.gauge(
    'stowage_drive_capacity_bytes',
    'The capacities of all drives that have reported theirs.',
  );
  const promised = metrics.gauge('stowage_drive_promised_bytes', 'The sizes of all entries in ledgers.');
  const overCommitted = metrics.gauge(
    'stowage_drives_overcommitted',
    'Drives whose ledgers promise more than they have.',
  );
  return metrics.beforeRender(() => {
    const counts = new Map(states.map((state) => [state, 0]));
    const sums = { capacity: 0, promised: 0, cordoned: 0, over: 0 };
    const all = [...read()].map((drive) => ({ drive, record: readDrive(drive) }));
    const duplicates = duplicateDrives(all.map(({ record }) => record));
    for (const { drive, record } of all) {
      const isDuplicate = duplicates.has(record.name);
      const reported = isDuplicate ? 'Error' : (drive.status?.state ?? '');
      const state = counts.has(reported) ? reported : 'Unknown';
      counts.set(state, counts.get(state)! + 1);
      const bytes = promisedBytes(record);
      if (!isDuplicate) sums.capacity += record.capacityBytes;
      sums.promised += bytes;
      if (drive.spec?.unschedulable === true) sums.cordoned += 1;
      if (drive.status?.capacityBytes !== undefined && bytes > record.capacityBytes) sums.over += 1;
    }
    for (const [state, count] of counts) byState.set(count, { state });
    capacity.set(sums.capacity);
    promised.set(sums.promised);
    cordoned.set(sums.cordoned);
    overCommitted.set(sums.over);
  });
}
