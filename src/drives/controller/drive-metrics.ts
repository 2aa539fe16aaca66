import { type DriveRecord, promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { driveStateOf } from '../../engine/drives/drive-state.ts';
import { duplicateDrives } from '../../engine/drives/shared-filesystems.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** All states that a drive may report, so that a state without drives is shown as 0. */
const states = ['Ready', 'Lost', 'Error', 'Repairing', 'Removing', 'NodeGone', 'Unknown'];

/** Drives with metrics of their own, the first by name: three series each. The sums and counts are about all drives. */
const namedMax = 1000;

export interface MeteredDrives {
  readonly drives: () => Iterable<Drive>;
  /** Whether the Node of this name exists; true if that is not known. */
  readonly hasNode: (name: string) => boolean;
}

/** Counts drives whenever the metrics are read; the returned function ends that. */
export function meterDrives(metrics: Metrics, { drives, hasNode }: MeteredDrives): () => void {
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
    const read = [...drives()].map((drive) => ({ drive, record: readDrive(drive) }));
    const duplicates = duplicateDrives(read.map(({ record }) => record));
    const all = read.map(({ drive, record }): MeteredDrive => {
      const isDuplicate = duplicates.has(record.name);
      const state = driveStateOf(drive, { isDuplicate, hasNode: hasNode(record.nodeName) });
      return { drive, record, isDuplicate, state };
    });
    for (const { drive, record, isDuplicate, state } of all) {
      const counted = counts.has(state) ? state : 'Unknown';
      counts.set(counted, counts.get(counted)! + 1);
      const bytes = promisedBytes(record);
      if (!isDuplicate) sums.capacity += record.capacityBytes;
      sums.promised += bytes;
      if (drive.spec?.unschedulable === true) sums.cordoned += 1;
      if (drive.status?.capacityBytes !== undefined && bytes > record.capacityBytes) sums.over += 1;
    }
    meterEach(gauges, all);
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
  readonly isDuplicate: boolean;
  readonly state: string;
}

function driveGauges(metrics: Metrics) {
  const labels = ['drive', 'node'];
  const of = `Of the first ${namedMax} drives by name`;
  return {
    ready: metrics.gauge(
      'stowage_drive_ready',
      `${of}: 1 if its state is Ready and its Node exists, else 0.`,
      labels,
    ),
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

/** Removes the series of drives that no longer exist. */
function meterEach(
  { ready, free, promised }: ReturnType<typeof driveGauges>,
  all: readonly MeteredDrive[],
): void {
  const named = all.toSorted((a, b) => (a.record.name < b.record.name ? -1 : 1)).slice(0, namedMax);
  const labelled = named.map((metered) => ({
    ...metered,
    labels: { drive: metered.record.name, node: metered.record.nodeName },
    bytes: promisedBytes(metered.record),
  }));
  ready.replace(labelled.map(({ labels, state }) => [labels, state === 'Ready' ? 1 : 0]));
  promised.replace(labelled.map(({ labels, bytes }) => [labels, bytes]));
  free.replace(
    labelled
      .filter(({ drive, isDuplicate }) => drive.status?.capacityBytes !== undefined && !isDuplicate)
      .map(({ labels, record, bytes }) => [labels, record.capacityBytes - bytes]),
  );
}
