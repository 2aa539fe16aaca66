import { overCommittedReason } from '../../../engine/disks/disk-conditions.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { textOf } from '../../../kube/wire.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factValue } from '../facts.ts';

export const diskChecks: readonly Check[] = [
  { subject: 'storage nodes', needs: ['storageNodes'], find: nodeFindings },
  { subject: 'the state of disks', needs: ['diskSchedules'], find: diskFindings },
  { subject: 'the replicas of volumes', needs: ['diskVolumes'], find: volumeFindings },
];

function nodeFindings({ lists }: ClusterFacts): readonly Found[] {
  return factValue(lists.storageNodes).flatMap((node): Found[] => {
    const object = objectOf('StorageNode', node);
    const ready = getCondition(node.status?.conditions, 'Ready');
    const found: Found[] = [];
    const hasReported = ready !== undefined || Object.keys(node.status?.diskStatus ?? {}).length > 0;
    if (!hasReported || (ready !== undefined && ready.status !== 'True')) {
      const detail =
        ready === undefined ? 'its disk agent has never reported' : textOf(ready.message) || 'is not ready';
      found.push({ code: 'StorageNodeNotReady', object, detail });
    }
    for (const [name, disk] of Object.entries(node.status?.diskStatus ?? {})) {
      const orphaned = getCondition(disk.conditions, 'OrphanedData');
      if (orphaned?.status === 'True')
        found.push({ code: 'DiskOrphanedData', object, detail: `disk ${name}: ${textOf(orphaned.message)}` });
    }
    return found;
  });
}

/** The controller `disks` has decided which replicas are healthy. */
function volumeFindings({ lists }: ClusterFacts): readonly Found[] {
  return factValue(lists.diskVolumes).flatMap((volume): Found[] => {
    const { robustness, conditions } = volume.status ?? {};
    if (robustness !== 'faulted' && robustness !== 'degraded') return [];
    const object = objectOf('Volume', volume);
    const allocation = getCondition(conditions, 'DiskAllocation');
    const why = allocation?.status === 'False' ? `: ${textOf(allocation.message)}` : '';
    return robustness === 'faulted'
      ? [{ code: 'VolumeFaulted', object, detail: `no replica is healthy${why}` }]
      : [{ code: 'VolumeDegraded', object, detail: `not every replica is healthy${why}` }];
  });
}

function diskFindings({ lists }: ClusterFacts): readonly Found[] {
  return factValue(lists.diskSchedules).flatMap((schedule): Found[] => {
    const object = objectOf('DiskSchedule', schedule);
    const where = `disk ${textOf(schedule.spec?.name)} of node ${textOf(schedule.spec?.nodeID)}`;
    const ready = getCondition(schedule.status?.conditions, 'Ready');
    const schedulable = getCondition(schedule.status?.conditions, 'Schedulable');
    const found: Found[] = [];
    if (ready?.status === 'False')
      found.push({
        code: 'DiskNotReady',
        object,
        detail: `${where}: ${textOf(ready.reason)}: ${textOf(ready.message)}`,
      });
    if (schedulable?.status === 'False' && schedulable.reason === overCommittedReason)
      found.push({ code: 'DiskOverCommitted', object, detail: `${where}: ${textOf(schedulable.message)}` });
    return found;
  });
}
