import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { expansionOf } from '../../engine/cluster-index/pools/promise-ids.ts';
import { type CapacityPromise, isBeingProvisioned } from '../../engine/cluster-index/pools/promise-table.ts';
import { publishedCapacity } from '../../engine/cluster-index/pools/published-capacity-reports.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { zeroSize } from '../../engine/size.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { isRecord, listOf } from '../../kube/wire.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { noticeNotes } from '../explain/lines.ts';
import { quantityText } from '../pools/amounts.ts';
import { expansionsInFlight } from '../pools/expansions.ts';
import { PoolReader } from '../pools/pool-reader.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { missingNotes, type Need } from '../view/missing-notes.ts';
import { heldVolumes } from './held-volumes.ts';
import type {
  ClaimInFlight,
  ClaimPromise,
  InlineVolumeInFlight,
  NominatedPod,
  PromisedPool,
  ReservationsReport,
} from './report.ts';

export interface FindOptions {
  readonly nowMs: number;
  /** Only reservations of claims and pods in this namespace. */
  readonly namespace?: string | undefined;
  /** The index of the view's snapshot with the profile `stowage`, for callers that have one: building it takes longest. */
  readonly index?: ClusterIndex | undefined;
}

const needs: readonly Need[] = [
  { kind: 'PersistentVolume', resource: 'pv', without: 'volumes that are held are not shown' },
  {
    kind: 'PersistentVolumeClaim',
    resource: 'pvc -A',
    without: 'whether claims have their volumes is not known',
  },
  { kind: 'Node', resource: 'nodes', without: 'nothing is reachable, and promises have no pool' },
  {
    kind: 'Pod',
    resource: 'pods -A',
    without: 'who uses claims, who is nominated, and inline volumes are not shown',
  },
];

/** Finds all reservations in the stored objects, as a scheduler that starts now would. */
export function findReservations(view: ClusterView, options: FindOptions): ReservationsReport {
  const { snapshot, notes } = view;
  const { nowMs, namespace } = options;
  const { index, warnings } =
    options.index === undefined ? snapshot.toIndex(stowageProfile) : { index: options.index, warnings: [] };
  index.settle(nowMs);
  const reader = new PoolReader(view, index, nowMs);
  const isAsked = (key: string) => namespace === undefined || key.startsWith(`${namespace}/`);
  return {
    apiVersion: 'stowage.dev/reservations/v1',
    kind: 'ReservationsReport',
    volumes: heldVolumes(view, index, reader.reaches).filter(({ claim }) => isAsked(claim)),
    claims: claimsInFlight(index, snapshot).filter(({ claim }) => isAsked(claim)),
    inlineVolumes: inlineVolumes(index).filter(({ pod }) => isAsked(pod)),
    expansions: expansionsInFlight(index).filter(({ claim }) => isAsked(claim)),
    pools: promisedPools(index, reader).filter(
      ({ claims, inlineVolumes }) =>
        claims.some(({ claim }) => isAsked(claim)) || inlineVolumes.some(({ pod }) => isAsked(pod)),
    ),
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

function promisedPools(index: ClusterIndex, reader: PoolReader): readonly PromisedPool[] {
  return [...index.pools.records()]
    .filter(({ key }) => index.pools.promisesOf(key).size > 0)
    .map((pool) => promisedPool(pool, index, reader))
    .sort((a, b) => compareText(a.pool, b.pool));
}

function promisedPool(pool: PoolRecord, index: ClusterIndex, reader: PoolReader): PromisedPool {
  const { key, name, form, driver } = pool;
  const { storageClass, total, used, free, measuredAt, publishedBy, publisher } = reader.read(pool);
  const ids = [...index.pools.promisesOf(key).keys()].sort(compareText);
  return {
    pool: name,
    source: form,
    driver,
    storageClass,
    total,
    used,
    reported: quantityText(publishedCapacity(pool)),
    promised: quantityText(index.pools.promisedTotal(key)),
    free,
    measuredAt,
    publisher,
    publishedBy,
    claims: ids.flatMap((id) => claimPromise(index.promises.get(id))),
    inlineVolumes: ids.flatMap((id) => inlinePromise(index.promises.get(id))),
  };
}

function claimPromise(promised: CapacityPromise | undefined): ClaimPromise[] {
  if (promised === undefined || isInline(promised)) return [];
  const growing = expansionOf(promised.id);
  const amount = { size: quantityText(promised.size), node: promised.nodeName };
  if (growing !== undefined) return [{ claim: growing.claimKey, ...amount, isExpansion: true }];
  // The id of a promise whose claim is deleted ends with the claim's uid.
  const [claim = '', uid] = promised.id.split(' ');
  const line = { claim, ...amount };
  return [uid === undefined ? line : { ...line, isDeleted: true }];
}

function inlinePromise(promised: CapacityPromise | undefined): Omit<InlineVolumeInFlight, 'pool'>[] {
  if (promised === undefined || !isInline(promised)) return [];
  const { id, size, nodeName } = promised;
  const at = id.lastIndexOf(':');
  return [{ pod: id.slice(0, at), volume: id.slice(at + 1), node: nodeName, size: quantityText(size) }];
}

function inlineVolumes(index: ClusterIndex): readonly InlineVolumeInFlight[] {
  return [...index.promises.all()]
    .filter(({ isInCapacityReport }) => isInCapacityReport !== true)
    .flatMap((promised) => inlinePromise(promised).map((line) => ({ line, promised })))
    .map(({ line, promised: { poolKey = '' } }) => ({ ...line, pool: index.pools.get(poolKey)?.name }))
    .sort((a, b) => compareText(`${a.pod} ${a.volume}`, `${b.pod} ${b.volume}`));
}

/** No name of a claim has a colon. */
function isInline({ id }: CapacityPromise): boolean {
  return id.includes(':');
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

interface WaitingSince {
  readonly time: string;
  readonly from: 'selected-node' | 'creation';
}

/** Since when a claim has a selected node, from the managed fields of that annotation; without them, the creation of the claim. */
function waitingSince({ metadata }: PersistentVolumeClaim): WaitingSince | undefined {
  const owner = listOf(metadata?.managedFields).find(({ fieldsV1 }) => ownsSelectedNode(fieldsV1));
  if (owner?.time !== undefined) return { time: owner.time, from: 'selected-node' };
  const created = metadata?.creationTimestamp;
  return typeof created === 'string' ? { time: created, from: 'creation' } : undefined;
}

function ownsSelectedNode(fields: unknown): boolean {
  let at = fields;
  for (const step of ['f:metadata', 'f:annotations', `f:${annotations.selectedNode}`]) {
    if (!isRecord(at) || !Object.hasOwn(at, step)) return false;
    at = at[step];
  }
  return true;
}
