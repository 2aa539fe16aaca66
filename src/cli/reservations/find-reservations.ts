import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { publishedCapacity } from '../../engine/cluster-index/pools/pool-table.ts';
import { isBeingProvisioned } from '../../engine/cluster-index/pools/promise-table.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { zeroSize } from '../../engine/size.ts';
import { listOf } from '../../kube/wire.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { noticeNotes } from '../explain/lines.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import { missingNotes, type Need } from '../source/missing-notes.ts';
import { quantityText } from './amounts.ts';
import { heldVolumes } from './held-volumes.ts';
import { ReachReader } from './reach.ts';
import type { ClaimInFlight, NominatedPod, PromisedPool, ReservationsReport } from './report.ts';
import { waitingSince } from './waiting-since.ts';

export interface FindOptions {
  readonly nowMs: number;
  /** Only reservations of claims and pods in this namespace. */
  readonly namespace?: string | undefined;
}

const needs: readonly Need[] = [
  { kind: 'PersistentVolume', resource: 'pv', without: 'volumes that are held are not shown' },
  {
    kind: 'PersistentVolumeClaim',
    resource: 'pvc -A',
    without: 'whether claims have their volumes is not known',
  },
  { kind: 'Node', resource: 'nodes', without: 'nothing is reachable, and promises have no pool' },
  { kind: 'Pod', resource: 'pods -A', without: 'who uses claims and who is nominated is not shown' },
];

/** Finds all reservations in the stored objects, as a scheduler that starts now would. */
export function findReservations(view: ClusterView, { nowMs, namespace }: FindOptions): ReservationsReport {
  const { snapshot, notes } = view;
  const { index, warnings } = snapshot.toIndex(stowageProfile);
  index.settle(nowMs);
  const isAsked = (key: string) => namespace === undefined || key.startsWith(`${namespace}/`);
  return {
    apiVersion: 'stowage.dev/reservations/v1',
    kind: 'ReservationsReport',
    volumes: heldVolumes(view, index, new ReachReader(index)).filter(({ claim }) => isAsked(claim)),
    claims: claimsInFlight(index, snapshot).filter(({ claim }) => isAsked(claim)),
    pools: promisedPools(index).filter(({ claims }) => claims.some(({ claim }) => isAsked(claim))),
    pods: nominatedPods(index, snapshot).filter(({ pod }) => isAsked(pod)),
    notes: [...notes, ...missingNotes(view, needs), ...noticeNotes(warnings)],
  };
}

function claimsInFlight(index: ClusterIndex, snapshot: ClusterSnapshot): readonly ClaimInFlight[] {
  return [...index.claims.records()]
    .filter(isBeingProvisioned)
    .map((claim) => claimInFlight(claim, index, snapshot))
    .sort((a, b) => compareText(a.claim, b.claim));
}

function claimInFlight(claim: ClaimRecord, index: ClusterIndex, snapshot: ClusterSnapshot): ClaimInFlight {
  const { key, selectedNode, className, request, poolHint, isRollingBack } = claim;
  const poolKey = index.promises.get(key)?.poolKey;
  const since = waitingSince(snapshot.get('PersistentVolumeClaim', key)!);
  return {
    claim: key,
    node: selectedNode,
    storageClass: className,
    size: quantityText(request ?? zeroSize),
    poolHint: poolHint === '' ? undefined : poolHint,
    pool: poolKey === undefined ? undefined : index.pools.get(poolKey)?.name,
    state: isRollingBack ? 'RollingBack' : 'Provisioning',
    waitingSince: since?.time,
    waitingSinceFrom: since?.from,
    pods: [...index.pods.usingClaim(key)].map((pod) => pod.key).sort(),
  };
}

function promisedPools(index: ClusterIndex): readonly PromisedPool[] {
  return [...index.pools.records()]
    .filter(({ key }) => index.pools.promisesOf(key).size > 0)
    .map((pool) => promisedPool(pool, index))
    .sort((a, b) => compareText(a.pool, b.pool));
}

function promisedPool(pool: PoolRecord, { pools, promises }: ClusterIndex): PromisedPool {
  const { key, name, form, driver, storageClass } = pool;
  const claims = [...pools.promisesOf(key)].map(([claim, size]) => ({
    claim,
    size: quantityText(size),
    node: promises.get(claim)?.nodeName ?? '',
  }));
  return {
    pool: name,
    source: form,
    driver,
    storageClass,
    reported: quantityText(publishedCapacity(pool)),
    promised: quantityText(pools.promisedTotal(key)),
    free: quantityText(pools.available(pools.row(key)!)),
    claims: claims.sort((a, b) => compareText(a.claim, b.claim)),
  };
}

function nominatedPods(index: ClusterIndex, snapshot: ClusterSnapshot): readonly NominatedPod[] {
  return [...index.pods.records()]
    .filter(
      ({ nodeName, nominatedNode, isFinished }) => nodeName === '' && nominatedNode !== '' && !isFinished,
    )
    .map(({ key, nominatedNode, priority }) => {
      const { metadata, spec, status } = snapshot.get('Pod', key) ?? {};
      const scheduled = listOf(status?.conditions).find(({ type }) => type === 'PodScheduled');
      return {
        pod: key,
        node: nominatedNode,
        priority,
        schedulerName: spec?.schedulerName ?? 'default-scheduler',
        waitingSince: scheduled?.lastTransitionTime ?? metadata?.creationTimestamp ?? undefined,
      };
    })
    .sort((a, b) => b.priority - a.priority || compareText(a.pod, b.pod));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
