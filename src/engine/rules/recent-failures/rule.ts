/**
 * Excludes nodes for which provisioning a volume of the pod failed recently. Without this rule a pod whose provisioner refuses would go to
 * the same best node again and again.
 */
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { hasNewCapacityReport } from '../../cluster-index/pool-changes.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';

/** The claim that failed, by row of the node. */
type AvoidedRows = ReadonlyMap<number, string>;

const failedBit = 1;

export const recentFailuresRule: Rule<AvoidedRows> = {
  name: 'RecentFailures',
  reasons: ['RecentlyFailed'],
  prepare,
  filter: (avoided, cycle) => {
    for (const node of avoided.keys()) if (cycle.isFeasible(node)) cycle.reject(node, failedBit);
  },
  explain,
  wakes,
  invalidates: wakes,
};

function prepare({ index, pod, nowMs }: Cycle): Prepared<AvoidedRows> {
  const rows = new Map<number, string>();
  for (const { key } of pod.claims) {
    const claim = index.claims.get(key);
    if (claim === undefined || claim.isBound) continue;
    for (const [nodeName] of index.provisioningFailures.avoidedNodes(key, claim.uid, nowMs)) {
      const row = index.nodes.row(nodeName);
      if (row !== undefined) rows.set(row, key);
    }
  }
  return rows.size === 0 ? skip : { kind: 'ready', state: rows };
}

function explain(avoided: AvoidedRows, _: Cycle, node: number): readonly Finding[] {
  const claim = avoided.get(node);
  if (claim === undefined) return [];
  return [
    {
      rule: recentFailuresRule.name,
      reason: 'RecentlyFailed',
      claim,
      candidates: [],
      omitted: 0,
      margin: undefined,
    },
  ];
}

/** The end of a pause is not an event: the caller asks the `Waker` when to try again. */
function wakes(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'CSIStorageCapacity':
      return interest.classes.has((change.after ?? change.before)!.storageClass);
    case 'DriverCapacity':
      return change.difference.pools.some(
        (pool) =>
          hasNewCapacityReport(pool) && interest.drivers.has((pool.after ?? pool.before)!.driver ?? ''),
      );
    case 'Drive':
      return hasNewCapacityReport(change) && interest.drivers.has(drivesDriver);
    case 'PersistentVolumeClaim':
      return interest.claimKeys.has((change.after ?? change.before)!.key);
    default:
      return false;
  }
}
