import { getCondition } from '../../kube/conditions.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** The values that a scrape reads about one agent. */
export interface MeteredAgent {
  readonly nodeName: string;
  /** The StorageNode as it was reported last. */
  readonly node: () => Pick<StorageNode, 'status'> | undefined;
  /** The time since the disks were last checked; undefined before the first time. */
  readonly probeAgeMs: () => number | undefined;
}

/** Updates the metrics of an agent whenever they are read; the returned function ends that. A process has few agents, mostly one. */
export function meterAgent(metrics: Metrics, { nodeName, node, probeAgeMs }: MeteredAgent): () => void {
  const disks = metrics.gauge('stowage_disk_agent_disks', 'Disks of the storage node by their state.', [
    'storage_node',
    'state',
  ]);
  const maximum = metrics.gauge('stowage_disk_agent_maximum_bytes', 'The sizes of its filesystems.', [
    'storage_node',
  ]);
  const available = metrics.gauge(
    'stowage_disk_agent_available_bytes',
    'The bytes that are free, or taken by its own replicas and copies.',
    ['storage_node'],
  );
  const age = metrics.gauge(
    'stowage_disk_agent_probe_age_seconds',
    'Time since its disks were last looked at. It grows while a disk does not answer.',
    ['storage_node'],
  );
  return metrics.beforeRender(() => {
    const all = Object.values(node()?.status?.diskStatus ?? {});
    const labels = { storage_node: nodeName };
    const ready = all.filter(({ conditions }) => getCondition(conditions, 'Ready')?.status === 'True');
    disks.set(ready.length, { ...labels, state: 'ready' });
    disks.set(all.length - ready.length, { ...labels, state: 'not-ready' });
    maximum.set(
      all.reduce((sum, { storageMaximum = 0 }) => sum + storageMaximum, 0),
      labels,
    );
    available.set(
      all.reduce((sum, { storageAvailable = 0 }) => sum + storageAvailable, 0),
      labels,
    );
    const ageMs = probeAgeMs();
    if (ageMs !== undefined) age.set(ageMs / 1000, labels);
  });
}
