import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { Ledger } from '../ledger/ledger.ts';
import { type Placement, plan } from '../plan.ts';
import { everyNode } from '../records/node-matcher.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import { memberPod, ordinalOf } from '../workloads/stateful-set-members.ts';
import type { PodOutcome, VolumeCopy } from './prediction.ts';
import type { SchedulingOptions } from './scheduling.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/**
 * The volumes that keep stranded pods from moving, and where a copy of each would fit. All copies together must fit, so each takes its capacity. Leaves
 * the index as it was.
 */
export function copiesFor(
  outcomes: readonly PodOutcome[],
  cluster: WhatIfCluster,
  { nowMs, rules }: SchedulingOptions,
): readonly VolumeCopy[] {
  const { index } = cluster;
  const savepoint = index.savepoint();
  try {
    const ledger = new Ledger(index);
    return outcomes.flatMap((outcome) => {
      if (outcome.outcome !== 'stranded' || outcome.from === undefined) return [];
      const pod = cluster.get('Pod', outcome.replacement ?? outcome.pod) ?? missingMember(cluster, outcome);
      if (pod === undefined) return [];
      const pinned = pinnedClaims(cluster, readPod(pod));
      if (pinned.length === 0) return [];
      for (const { claim } of pinned) cluster.put('PersistentVolumeClaim', unbound(claim));
      const answer = plan(pod, index, { nowMs, ...(rules && { rules }) });
      const fits = answer.kind === 'placement' && ledger.reserve(answer).kind === 'reserved';
      for (const { claim } of fits ? [] : pinned) cluster.put('PersistentVolumeClaim', claim);
      return pinned.map(({ claim, volume, driver, bytes }) => ({
        volume,
        claim: `${claim.metadata?.namespace}/${claim.metadata?.name}`,
        driver,
        bytes,
        pod: outcome.pod,
        from: `node/${outcome.from}`,
        to: fits ? `node/${answer.node}` : undefined,
        drive: fits ? driveOf(answer, claim) : undefined,
      }));
    });
  } finally {
    index.rollback(savepoint);
  }
}

/** The member that an ordered StatefulSet does not create before others: its volumes keep it from moving all the same. */
function missingMember(cluster: WhatIfCluster, { pod, owner }: PodOutcome): Pod | undefined {
  const [namespace = '', name = ''] = pod.split('/');
  const [kind, setName = ''] = owner.split('/');
  const set = kind === 'StatefulSet' ? cluster.get('StatefulSet', `${namespace}/${setName}`) : undefined;
  const ordinal = ordinalOf({ metadata: { name } });
  if (set === undefined || ordinal === undefined) return undefined;
  return memberPod(set, { name: '', template: set.spec?.template ?? {} }, ordinal);
}

/** The drive that the new volume of the claim gets; undefined if its class uses no drives. */
function driveOf({ provisions }: Placement, { metadata }: PersistentVolumeClaim): string | undefined {
  const key = `${metadata?.namespace}/${metadata?.name}`;
  const pool = provisions.find(({ claim }) => claim === key)?.pool;
  return pool?.isDrive === true ? pool.name : undefined;
}

interface PinnedClaim {
  readonly claim: PersistentVolumeClaim;
  readonly volume: string;
  readonly driver: string;
  readonly bytes: number;
}

/** The claims of the pod whose volumes only some nodes reach. */
function pinnedClaims(cluster: WhatIfCluster, pod: PodRecord): readonly PinnedClaim[] {
  const { claims, volumes } = cluster.index;
  return pod.claims.flatMap(({ key }) => {
    const claim = cluster.get('PersistentVolumeClaim', key);
    const volume = volumes.get(claims.get(key)?.volumeName ?? '');
    if (claim === undefined || volume === undefined || volume.nodes === everyNode) return [];
    return [{ claim, volume: volume.key, driver: volume.csi?.driver ?? '', bytes: volume.size.bytes }];
  });
}

/** The claim as it would be for a new volume that the data is copied to. */
function unbound({ metadata, spec }: PersistentVolumeClaim): PersistentVolumeClaim {
  const {
    [annotations.bindCompleted]: _b,
    [annotations.selectedNode]: _s,
    ...kept
  } = metadata?.annotations ?? {};
  const { volumeName: _, ...rest } = spec ?? {};
  return {
    metadata: { ...metadata, uid: `copy of ${metadata?.uid ?? ''}`, annotations: kept },
    spec: rest,
    status: { phase: 'Pending' },
  };
}
