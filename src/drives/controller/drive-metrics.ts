import { type DriveRecord, promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { duplicateDrives } from '../../engine/drives/shared-filesystems.ts';
import type { Drive } from '../../kube/drive.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** All states that a drive may report, so that a state without drives is shown as 0. */
const states = ['Ready', 'Lost', 'Error', 'Repairing', 'Removing', 'Unknown'];

/** Drives with metrics of their own, the first by name: three series each. The sums and counts are about all drives. */
const namedMax = 1000;

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
  const gauges = driveGauges(metrics);
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
    meterEach(gauges, all, duplicates);
    for (const [state, count] of counts) byState.set(count, { state });
    capacity.set(sums.capacity);
    promised.set(sums.promised);
    cordoned.set(sums.cordoned);
    overCommitted.set(sums.over);
  });
}

interface MeteredDrive {
  readonly drive: Drive;
  readonly record: DriveRecord;
}

function driveGauges(metrics: Metrics) {
  const labels = ['drive', 'node'];
  const of = `Of the first ${namedMax} drives by name`;
  return {
    ready: metrics.gauge('stowage_drive_ready', `${of}: 1 if its state is Ready, else 0.`, labels),
    free: metrics.gauge(
      'stowage_drive_volumes_free_bytes',
      `${of}: the capacity less the sizes of the entries in its ledger; left out while the capacity is unknown.`,
      labels,
    ),
    promised: metrics.gauge(
      'stowage_drive_volumes_promised_bytes',
      `${of}: the sizes of the entries in its ledger.`,
      labels,
    ),
  };
}

/** A drive that is gone leaves no series. */
function meterEach(
  { ready, free, promised }: ReturnType<typeof driveGauges>,
  all: readonly MeteredDrive[],
  duplicates: ReadonlyMap<string, string>,
): void {
  const named = all.toSorted((a, b) => (a.record.name < b.record.name ? -1 : 1)).slice(0, namedMax);
  const labelled = named.map(({ drive, record }) => ({
    labels: { drive: record.name, node: record.nodeName },
    isDuplicate: duplicates.has(record.name),
    bytes: promisedBytes(record),
    drive,
    record,
  }));
  ready.replace(
    labelled.map(({ labels, drive, isDuplicate }) => [
      labels,
      drive.status?.state === 'Ready' && !isDuplicate ? 1 : 0,
    ]),
  );
  promised.replace(labelled.map(({ labels, bytes }) => [labels, bytes]));
  free.replace(
    labelled
      .filter(({ drive, isDuplicate }) => drive.status?.capacityBytes !== undefined && !isDuplicate)
      .map(({ labels, record, bytes }) => [labels, record.capacityBytes - bytes]),
  );
}
