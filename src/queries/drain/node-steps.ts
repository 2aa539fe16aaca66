import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { NodeRow } from '../../engine/cluster-index/nodes/node-table.ts';
import { everyNode, matcherHolds } from '../../engine/records/node-matcher.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { VolumeRecord } from '../../engine/records/volume-record.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { budgetsOf, makePlan, whatIfIndex } from '../plan/make-plan.ts';
import type { PlanReport, VolumeCopyLine } from '../plan/plan-report.ts';
import { isReadIn } from '../view/unread-kinds.ts';
import type { DrainFacts, DrainParts } from './drain-facts.ts';
import type { DrainStep, EvictedPodLine, LeftLine } from './drain-report.ts';
import { evictionWaves } from './eviction-waves.ts';
import { type PredictedEviction, predictEviction } from './predict-eviction.ts';
import { emptyStep, leftPod } from './step-parts.ts';

/** The cluster as an index, and what of it could be read. */
interface ReadCluster extends Pick<DrainFacts, 'view'> {
  readonly index: ClusterIndex;
}

/** The steps that empty a node. */
export function nodeSteps(node: string, facts: DrainFacts): DrainParts {
  const { view, clock, profile } = facts;
  const options = { nowMs: clock.nowMs(), profile };
  const plan = makePlan(view, [{ kind: 'drain-node', node }], options);
  const { index } = whatIfIndex(view, options);
  const own = [...view.snapshot.values('Drive')].filter(({ spec }) => spec?.nodeName === node);
  const evictions = facts.disks === undefined ? [] : predictEviction(node, facts.disks, clock);
  const pods = evictedPods(node, plan, index, facts);
  const steps = [
    cordonStep(node, own, facts),
    ...diskSteps(node, evictions, facts),
    ...(pods.length === 0 ? [] : [podStep(pods)]),
  ];
  const left = [
    ...evictions.flatMap(refusedLine),
    ...leftVolumes(node, plan, own, { index, view }),
    ...leftPods(node, plan, pods),
  ];
  const stays = plan.stays.filter((line) => line.node === node).map(({ pod }) => pod);
  return { steps, left, stays, notes: plan.notes };
}

// ── Steps ──

function cordonStep(
  node: string,
  own: readonly Drive[],
  { view, disks }: DrainFacts,
): Omit<DrainStep, 'number'> {
  const storageNode = disks?.nodes.find(({ metadata }) => metadata?.name === node);
  const isNodeClosed = view.snapshot.get('Node', node)?.spec?.unschedulable === true;
  const isStorageClosed = storageNode === undefined || storageNode.spec?.allowScheduling === false;
  const names = own.map(({ metadata }) => metadata?.name ?? '').sort();
  return {
    ...emptyStep,
    action: 'cordon',
    title: 'Cordon: no new pods, volumes, replicas and copies of images',
    isDone: isNodeClosed && isStorageClosed && own.every(({ spec }) => spec?.unschedulable === true),
    objects: [
      `node/${node}`,
      ...names.map((name) => `drive/${name}`),
      ...(storageNode === undefined ? [] : [`storagenode/${node}`]),
    ],
  };
}

function diskSteps(
  node: string,
  evictions: readonly PredictedEviction[],
  { disks }: DrainFacts,
): readonly Omit<DrainStep, 'number'>[] {
  if (disks?.nodes.some(({ metadata }) => metadata?.name === node) !== true) return [];
  const volumes = evictions.filter(({ refusal }) => refusal === undefined);
  return [
    {
      ...emptyStep,
      action: 'evict-disks',
      title: 'Evict its disks: a new replica or copy first; the old one goes when the new one has the data',
      isDone: evictions.length === 0,
      objects: [`storagenode/${node}`],
      volumes: volumes.map(({ refusal: _, ...line }) => line),
    },
  ];
}

function podStep(pods: readonly EvictedPodLine[]): Omit<DrainStep, 'number'> {
  return {
    ...emptyStep,
    action: 'evict-pods',
    title: 'Evict the pods that have another node to go to, wave by wave',
    isDone: false,
    pods,
  };
}

function evictedPods(
  node: string,
  plan: PlanReport,
  index: ClusterIndex,
  { view }: DrainFacts,
): readonly EvictedPodLine[] {
  const targets = new Map(
    plan.moves.flatMap(({ pod, from, to, cause }) =>
      from === node && cause === 'drained' ? [[pod, to] as const] : [],
    ),
  );
  const records = [...targets.keys()].flatMap((key) => index.pods.get(key) ?? []);
  const waves = evictionWaves(records, { budgets: budgetsOf(view), restartsElsewhere: true });
  return [...waves].map(([{ key, owner }, wave]) => ({
    pod: key,
    owner: owner === '' ? undefined : owner,
    wave,
    to: targets.get(key),
  }));
}

// ── What is left ──

function refusedLine({ kind, name, claim, bytes, refusal }: PredictedEviction): readonly LeftLine[] {
  if (refusal === undefined) return [];
  const remedy = 'add a disk with the tags that it needs, or free bytes on one';
  return [{ kind, name, claim, driver: undefined, bytes, fitsOn: undefined, why: refusal, remedy }];
}

/** Volumes that only this node reaches: those of pods, and those that no pod uses now. */
function leftVolumes(
  node: string,
  plan: PlanReport,
  own: readonly Drive[],
  known: ReadCluster,
): readonly LeftLine[] {
  const { index } = known;
  const copies = plan.copies.filter(({ from }) => from === `node/${node}`);
  const copied = new Set(copies.map(({ volume }) => volume));
  const unused = [...index.volumes.records()].filter(
    (volume) => !copied.has(volume.key) && volume.claim !== undefined && isPinned(volume, node, index),
  );
  const listed = new Set([...copied, ...unused.map(({ key }) => key)]);
  return [
    ...copies.map((copy) => pinnedLine(copy, index)),
    ...unused.map((volume) => otherPinnedLine(volume, known)),
    ...ledgerLines(own, known, listed),
  ];
}

/** Lists the volumes in the ledgers of the node, even if the PersistentVolume is missing or names another node. */
function ledgerLines(
  own: readonly Drive[],
  known: ReadCluster,
  listed: ReadonlySet<string>,
): readonly LeftLine[] {
  const { index } = known;
  const byHandle = new Map(
    [...index.volumes.records()].flatMap((volume) =>
      volume.csi?.driver === drivesDriver ? [[volume.csi.handle, volume] as const] : [],
    ),
  );
  const entries = own.flatMap(({ metadata, spec }) =>
    (spec?.volumes ?? []).map((entry) => ({ ...entry, drive: metadata?.name })),
  );
  return entries.flatMap(({ drive, name, podRef, claimRef, sizeBytes, state }) => {
    const volume = byHandle.get(name);
    if (podRef !== undefined || (volume !== undefined && listed.has(volume.key))) return [];
    if (volume !== undefined) return [otherPinnedLine(volume, known)];
    const isGoing = state === 'Releasing';
    return [
      {
        kind: 'volume' as const,
        name,
        claim: claimRef && `${claimRef.namespace}/${claimRef.name}`,
        driver: drivesDriver,
        bytes: sizeBytes,
        fitsOn: undefined,
        why: isGoing
          ? `drive ${drive} is deleting it`
          : 'its drive has an entry for it, and there is no PersistentVolume',
        remedy: isGoing ? 'wait until its data is gone' : 'see stowage drives list volumes',
      },
    ];
  });
}

/** Checks first whether the volume reaches the node, because most do not: a large cluster has ten times more volumes than nodes. */
function isPinned({ nodes }: VolumeRecord, node: string, index: ClusterIndex): boolean {
  if (nodes === everyNode) return false;
  const reaches = (row: NodeRow) => {
    const record = index.nodes.record(row);
    return record !== undefined && matcherHolds(nodes, record.key, record.labels);
  };
  const own = index.nodes.row(node);
  if (own === undefined || !reaches(own)) return false;
  return index.nodes.rowsByName.every((row) => row === own || !reaches(row));
}

const pinned = 'its PersistentVolume is pinned to this node, which cannot be changed';

function pinnedLine(copy: VolumeCopyLine, index: ClusterIndex): LeftLine {
  const { volume, claim, driver, bytes, to, drive, pod } = copy;
  const user = pod === undefined ? undefined : index.pods.get(pod);
  const remedy = copyRemedy(claim, user);
  return {
    kind: 'volume',
    name: volume,
    claim,
    driver,
    bytes,
    fitsOn: drive === undefined ? to : `drive/${drive}`,
    why: `${pinned}; pod ${pod} uses it`,
    remedy:
      to === undefined ? `add a node or a drive, because none has room for a copy; then ${remedy}` : remedy,
  };
}

function otherPinnedLine(volume: VolumeRecord, known: ReadCluster): LeftLine {
  const { key, claim, csi, size } = volume;
  const [why, remedy] =
    unreadReason(volume, known) ?? unusedReason(volume, known) ?? usedReason(volume, known);
  return {
    kind: 'volume',
    name: key,
    claim: claim?.claimKey,
    driver: csi?.driver,
    bytes: size.bytes,
    fitsOn: undefined,
    why,
    remedy,
  };
}

/** The objects that must be read to know whether the volume is used: until then nothing may be deleted. Undefined if nothing is missing. */
function unreadReason(
  { claim }: VolumeRecord,
  { index, view }: ReadCluster,
): readonly [string, string] | undefined {
  if (claim === undefined) return undefined;
  const [namespace = ''] = claim.claimKey.split('/');
  const isFound = index.claims.get(claim.claimKey) !== undefined;
  const unread = [
    ...(isFound || isReadIn(view, 'PersistentVolumeClaim', namespace) ? [] : ['persistentvolumeclaims']),
    ...(isReadIn(view, 'Pod', namespace) ? [] : ['pods']),
  ];
  if (unread.length === 0) return undefined;
  const kinds = unread.join(' and ');
  return [
    `${pinned}; ${kinds} of namespace ${namespace} could not be read, so whether it is used is not known`,
    view.isFromFiles === true
      ? `add the output of kubectl get ${unread.join(',')} -A -o yaml`
      : `ask for the right to list ${kinds} in namespace ${namespace}`,
  ];
}

/** Why a volume is there that no claim uses, and what to do; undefined if one uses it. */
function unusedReason(
  { key, claim }: VolumeRecord,
  { index }: ReadCluster,
): readonly [string, string] | undefined {
  const remedy = `copy the data if it is needed, then delete PersistentVolume ${key}, and the data on the node`;
  if (claim === undefined) return ['no claim uses it, and its data is on this node', remedy];
  const isKnown = claim.uid === '' || index.claims.get(claim.claimKey)?.uid === claim.uid;
  return isKnown ? undefined : ['its claim is gone, and its data is on this node', remedy];
}

function usedReason({ claim }: VolumeRecord, { index }: ReadCluster): readonly [string, string] {
  const claimKey = claim?.claimKey ?? '';
  const [user] = [...index.pods.usingClaim(claimKey)].filter(({ isFinished }) => !isFinished);
  return user === undefined
    ? [`${pinned}; no pod uses it now`, `copy the data if it is needed, then delete claim ${claimKey}`]
    : [`${pinned}; pod ${user.key} uses it`, copyRemedy(claimKey, user)];
}

/** A StatefulSet makes claims and pods again, anywhere; every other claim has to be replaced by hand. */
function copyRemedy(claim: string, pod: PodRecord | undefined): string {
  const [kind, owner] = (pod?.owner ?? '').split('/');
  const [, podName = ''] = (pod?.key ?? '').split('/');
  if (kind === 'StatefulSet' && claim.endsWith(`-${podName}`))
    return `if the other pods of StatefulSet ${owner} have the data too, delete claim ${claim}, and its data with it, and pod ${pod?.key}: both come back on another node, empty; otherwise make a backup first, and restore it there`;
  const users = pod === undefined || pod.owner === '' ? 'its pod' : `${kind} ${owner}`;
  return `stop ${users}, bring the data to a new claim by the application or a backup, let ${users} use that, and delete claim ${claim}, and its data with it`;
}

function leftPods(node: string, plan: PlanReport, pods: readonly EvictedPodLine[]): readonly LeftLine[] {
  const explained = new Set(plan.copies.map(({ pod }) => pod));
  return [
    ...plan.stranded
      .filter(({ pod, from, cause }) => from === node && cause === 'drained' && !explained.has(pod))
      .map(({ pod, message }) =>
        leftPod(
          pod,
          message.replace(/\.$/, ''),
          `add a node or free capacity; stowage plan --drain node/${node} says what each node lacks`,
        ),
      ),
    ...plan.lost
      .filter((lost) => lost.node === node)
      .map(({ pod }) => leftPod(pod, 'no controller creates it again', 'delete it if it is not needed')),
    ...pods
      .filter(({ wave }) => wave === undefined)
      .map(({ pod }) =>
        leftPod(
          pod,
          'a PodDisruptionBudget allows no eviction now',
          'wait until the other pods of the budget are ready, or change the budget',
        ),
      ),
  ];
}
