import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { canProvision, claimClassName, isFullyBound } from '../../../kube/volumes.ts';
import { attachedVolume, canAttach, hasDrivers, inlineDisks, unprovisionedVolume } from './attach.ts';
import {
  claimsOf,
  nanoBytes,
  type OracleCluster,
  objectKey,
  objectName,
  requestOf,
  selectedNodeOf,
} from './cluster.ts';
import {
  canProvisionAll,
  canProvisionIn,
  inlinePools,
  inlineSizes,
  type NewVolume,
  type OraclePool,
  poolsFor,
} from './pools.ts';
import { allowsNode, isBoundReachable, isInZone, isReachable } from './reach.ts';
import { reasons } from './reasons.ts';
import { compareVolumeObjects, freeVolumesFor, preboundVolumes, volumeSize } from './volumes.ts';

/** An assignment of volumes to a pod on a node. */
export interface Assignment {
  /** The existing volume of each claim. */
  readonly volumes: ReadonlyMap<string, string>;
  /** The claims, and inline volumes as `namespace/pod:volume`, that get a new volume; with the pool's key if the driver publishes capacity. */
  readonly provisioned: ReadonlyMap<string, string | undefined>;
  /** The total excess of the existing volumes over the requests, in billionths of a byte. */
  readonly waste: bigint;
}

export type OracleNodeAnswer =
  | { readonly kind: 'fits'; readonly assignment: Assignment }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

/** Profile `stowage`: the best of all assignments. */
export function bestAssignment(cluster: OracleCluster, pod: Pod, node: Node): OracleNodeAnswer {
  const claims = claimsOf(pod).map(({ key }) => cluster.claim(key)!);
  const bound = claims
    .filter((claim) => isFullyBound(claim))
    .map((claim) => cluster.volume(claim.spec?.volumeName ?? ''));
  if (bound.includes(undefined)) return refuse(reasons.volumeMissing);
  if (bound.some((volume) => !isBoundReachable(cluster, volume!, node)))
    return refuse(reasons.volumeElsewhere);
  const best = bestChoice(cluster, node, { pod, claims, bound: bound.map((volume) => volume!) });
  if (best === undefined) return refuse(reasons.noVolume);
  const zoned = bound.filter((volume) => !hasAffinity(volume!));
  if (zoned.some((volume) => !isInZone(volume!, node))) return refuse(reasons.zone);
  return { kind: 'fits', assignment: best };
}

function refuse(reason: string): OracleNodeAnswer {
  return { kind: 'refused', reasons: [reason] };
}

/** Zone labels count only for volumes without required node affinity. */
function hasAffinity(volume: PersistentVolume): boolean {
  return volume.spec?.nodeAffinity?.required !== undefined;
}

/** A volume that the pod still needs, existing or new. */
interface VolumeRequest {
  readonly name: string;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly size: bigint;
  readonly existing: readonly PersistentVolume[];
  readonly provisioning: Provisioning | undefined;
}

interface Provisioning {
  readonly driver: string;
  /** Undefined if the driver publishes no capacity. */
  readonly pools: readonly OraclePool[] | undefined;
}

interface PodVolumes {
  readonly pod: Pod;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly bound: readonly PersistentVolume[];
}

/** For each request an existing volume, or undefined for a new one. */
type VolumeChoice = readonly (PersistentVolume | undefined)[];

function bestChoice(cluster: OracleCluster, node: Node, volumes: PodVolumes): Assignment | undefined {
  const requests = [
    ...volumes.claims
      .filter((claim) => !isFullyBound(claim))
      .map((claim) => claimRequest(cluster, claim, node)),
    ...inlineRequests(cluster, volumes.pod),
  ].sort((a, b) => (a.size === b.size ? 0 : a.size < b.size ? -1 : 1));
  let best:
    | { readonly choice: VolumeChoice; readonly pools: readonly (OraclePool | undefined)[] }
    | undefined;
  for (const choice of allChoices(requests)) {
    if (best !== undefined && compareChoices(requests, choice, best.choice) >= 0) continue;
    const pools = firstPools(cluster, node, requests, choice);
    if (pools !== undefined && attaches(cluster, node, { volumes, requests, choice }))
      best = { choice, pools };
  }
  return best === undefined ? undefined : assignmentOf(requests, best.choice, best.pools);
}

function claimRequest(cluster: OracleCluster, claim: PersistentVolumeClaim, node: Node): VolumeRequest {
  const request = { name: objectKey(claim), claim, size: requestOf(claim) ?? 0n };
  const storageClass = cluster.classOf(claim)!;
  const canProvisionHere = canProvision(storageClass) && allowsNode(storageClass, node);
  const driver = storageClass.provisioner ?? '';
  const selectedNode = selectedNodeOf(claim) ?? '';
  if (selectedNode !== '') {
    // The volume is being provisioned, and its capacity is promised. A second check might refuse the node because of this volume itself.
    const provisioning =
      canProvisionHere && selectedNode === objectName(node) ? { driver, pools: undefined } : undefined;
    return { ...request, existing: [], provisioning };
  }
  const prebound = preboundVolumes(cluster, claim);
  if (prebound.length > 0) {
    // The claim can use no other volume. Of several volumes whose claimRef names the claim, it gets the best.
    const [best] = prebound.filter((volume) => isReachable(cluster, volume, node)).sort(compareVolumeObjects);
    return { ...request, existing: best === undefined ? [] : [best], provisioning: undefined };
  }
  const pools = requestOf(claim) === undefined ? undefined : poolsFor(cluster, driver, claimClassName(claim));
  return {
    ...request,
    existing: freeVolumesFor(cluster, claim, node),
    provisioning: canProvisionHere ? { driver, pools } : undefined,
  };
}

function inlineRequests(cluster: OracleCluster, pod: Pod): VolumeRequest[] {
  return inlineSizes(pod).flatMap(({ volumeName, driver, text }) => {
    const pools = inlinePools(cluster, driver);
    if (pools === undefined) return [];
    const name = `${objectKey(pod)}:${volumeName}`;
    return [
      { name, claim: undefined, size: nanoBytes(text)!, existing: [], provisioning: { driver, pools } },
    ];
  });
}

/** All combinations that give each request one of its existing volumes, none twice, or a new one. */
function* allChoices(requests: readonly VolumeRequest[], chosen: VolumeChoice = []): Iterable<VolumeChoice> {
  const request = requests[chosen.length];
  if (request === undefined) {
    yield chosen;
    return;
  }
  for (const volume of request.existing) {
    if (!chosen.includes(volume)) yield* allChoices(requests, [...chosen, volume]);
  }
  if (request.provisioning !== undefined) yield* allChoices(requests, [...chosen, undefined]);
}

/** Negative if `a` is better: more existing volumes, then less waste, then request by request. */
function compareChoices(requests: readonly VolumeRequest[], a: VolumeChoice, b: VolumeChoice): number {
  const byCount = countExisting(b) - countExisting(a);
  if (byCount !== 0) return byCount;
  const [wasteA, wasteB] = [wasteOf(requests, a), wasteOf(requests, b)];
  if (wasteA !== wasteB) return wasteA < wasteB ? -1 : 1;
  for (const [position, left] of a.entries()) {
    const right = b[position];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return compareVolumeObjects(left, right);
  }
  return 0;
}

function countExisting(choice: VolumeChoice): number {
  return choice.filter((volume) => volume !== undefined).length;
}

function wasteOf(requests: readonly VolumeRequest[], choice: VolumeChoice): bigint {
  let waste = 0n;
  for (const [position, volume] of choice.entries()) {
    if (volume !== undefined) waste += volumeSize(volume)! - requests[position]!.size;
  }
  return waste;
}

/** The first combination of pools that can provision all new volumes together; undefined if there is none. */
function firstPools(
  cluster: OracleCluster,
  node: Node,
  requests: readonly VolumeRequest[],
  choice: VolumeChoice,
): readonly (OraclePool | undefined)[] | undefined {
  const choices = requests.map(({ provisioning, size }, position): readonly (OraclePool | undefined)[] => {
    if (choice[position] !== undefined || provisioning?.pools === undefined) return [undefined];
    const { driver, pools } = provisioning;
    return pools.filter((pool) => pool.isReachedFrom(node) && canProvisionIn(cluster, pool, driver, size));
  });
  for (const pools of product(choices)) {
    const newVolumes = pools.flatMap((pool, position): NewVolume[] => {
      const { provisioning, size } = requests[position]!;
      return pool === undefined ? [] : [{ pool, driver: provisioning!.driver, size }];
    });
    if (canProvisionAll(cluster, newVolumes)) return pools;
  }
  return undefined;
}

function* product<T>(choices: readonly (readonly T[])[], chosen: readonly T[] = []): Iterable<readonly T[]> {
  const next = choices[chosen.length];
  if (next === undefined) yield chosen;
  else for (const item of next) yield* product(choices, [...chosen, item]);
}

function attaches(
  cluster: OracleCluster,
  node: Node,
  {
    volumes,
    requests,
    choice,
  }: {
    readonly volumes: PodVolumes;
    readonly requests: readonly VolumeRequest[];
    readonly choice: VolumeChoice;
  },
): boolean {
  const nodeName = objectName(node);
  const wanted = [
    ...volumes.bound.map((volume) => attachedVolume(cluster, volume, nodeName)),
    ...inlineDisks(cluster, volumes.pod, nodeName),
    ...requests.map(({ claim }, position) => {
      const volume = choice[position];
      if (volume !== undefined) return attachedVolume(cluster, volume, nodeName);
      return claim === undefined ? undefined : unprovisionedVolume(cluster, claim, nodeName);
    }),
  ];
  return canAttach(cluster, node, wanted) && hasDrivers(cluster, node, wanted);
}

function assignmentOf(
  requests: readonly VolumeRequest[],
  choice: VolumeChoice,
  pools: readonly (OraclePool | undefined)[],
): Assignment {
  const volumes = new Map<string, string>();
  const made = new Map<string, string | undefined>();
  for (const [position, { name }] of requests.entries()) {
    const volume = choice[position];
    if (volume === undefined) made.set(name, pools[position]?.key);
    else volumes.set(name, objectName(volume));
  }
  return { volumes, provisioned: made, waste: wasteOf(requests, choice) };
}
