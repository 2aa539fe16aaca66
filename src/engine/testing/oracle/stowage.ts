import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { canProvision, claimClassName, isFullyBound } from '../../../kube/volumes.ts';
import { attachedVolume, canAttach, hasDrivers, inlineDisks, unprovisionedVolume } from './attach.ts';
import {
  claimsOf,
  keyOf,
  nameOf,
  nanoBytes,
  type OracleCluster,
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

/** One way to give a pod its volumes on a node. */
export interface Assignment {
  /** By claim: the existing volume that it gets. */
  readonly volumes: ReadonlyMap<string, string>;
  /** Claims, and inline volumes as `namespace/pod:volume`, that get a new volume; with the pool's key, if books are kept. */
  readonly made: ReadonlyMap<string, string | undefined>;
  /** What the existing volumes are larger than the requests, in billionths of a byte. */
  readonly waste: bigint;
}

export type OracleNodeAnswer =
  | { readonly kind: 'fits'; readonly assignment: Assignment }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

/** Profile `stowage`: the best of all ways. */
export function bestAssignment(cluster: OracleCluster, pod: Pod, node: Node): OracleNodeAnswer {
  const claims = claimsOf(pod).map(({ key }) => cluster.claim(key)!);
  const bound = claims
    .filter((claim) => isFullyBound(claim))
    .map((claim) => cluster.volume(claim.spec?.volumeName ?? ''));
  if (bound.includes(undefined)) return refuse(reasons.volumeMissing);
  if (bound.some((volume) => !isBoundReachable(cluster, volume!, node)))
    return refuse(reasons.volumeElsewhere);
  const best = bestWay(cluster, node, { pod, claims, bound: bound.map((volume) => volume!) });
  if (best === undefined) return refuse(reasons.noVolume);
  const zoned = bound.filter((volume) => !hasAffinity(volume!));
  if (zoned.some((volume) => !isInZone(volume!, node))) return refuse(reasons.zone);
  return { kind: 'fits', assignment: best };
}

function refuse(reason: string): OracleNodeAnswer {
  return { kind: 'refused', reasons: [reason] };
}

/** Affinity that leaves a node out; zone labels matter only without it. */
function hasAffinity(volume: PersistentVolume): boolean {
  return volume.spec?.nodeAffinity?.required !== undefined;
}

/** A volume that is still to be found or made. */
interface Want {
  readonly name: string;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly size: bigint;
  readonly existing: readonly PersistentVolume[];
  readonly making: Making | undefined;
}

interface Making {
  readonly driver: string;
  /** Undefined where nobody keeps books. */
  readonly pools: readonly OraclePool[] | undefined;
}

interface Task {
  readonly pod: Pod;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly bound: readonly PersistentVolume[];
}

/** What each want gets: an existing volume, or undefined for a new one. */
type Way = readonly (PersistentVolume | undefined)[];

function bestWay(cluster: OracleCluster, node: Node, task: Task): Assignment | undefined {
  const wants = [
    ...task.claims.filter((claim) => !isFullyBound(claim)).map((claim) => wantOfClaim(cluster, claim, node)),
    ...wantsOfInline(cluster, task.pod),
  ].sort((a, b) => (a.size === b.size ? 0 : a.size < b.size ? -1 : 1));
  let best: { readonly way: Way; readonly pools: readonly (OraclePool | undefined)[] } | undefined;
  for (const way of everyWay(wants)) {
    if (best !== undefined && compareWays(wants, way, best.way) >= 0) continue;
    const pools = firstPools(cluster, node, wants, way);
    if (pools !== undefined && attaches(cluster, node, { task, wants, way })) best = { way, pools };
  }
  return best === undefined ? undefined : assignmentOf(wants, best.way, best.pools);
}

function wantOfClaim(cluster: OracleCluster, claim: PersistentVolumeClaim, node: Node): Want {
  const want = { name: keyOf(claim), claim, size: requestOf(claim) ?? 0n };
  const storageClass = cluster.classOf(claim)!;
  const canMake = canProvision(storageClass) && allowsNode(storageClass, node);
  const driver = storageClass.provisioner ?? '';
  const selectedNode = selectedNodeOf(claim) ?? '';
  if (selectedNode !== '') {
    // It is being made, and has been promised its room: asking again might refuse the node that its own volume filled.
    const making = canMake && selectedNode === nameOf(node) ? { driver, pools: undefined } : undefined;
    return { ...want, existing: [], making };
  }
  const prebound = preboundVolumes(cluster, claim);
  if (prebound.length > 0) {
    // No other will do. Of several that are spoken for, the best is the claim's.
    const [best] = prebound.filter((volume) => isReachable(cluster, volume, node)).sort(compareVolumeObjects);
    return { ...want, existing: best === undefined ? [] : [best], making: undefined };
  }
  const pools = requestOf(claim) === undefined ? undefined : poolsFor(cluster, driver, claimClassName(claim));
  return {
    ...want,
    existing: freeVolumesFor(cluster, claim, node),
    making: canMake ? { driver, pools } : undefined,
  };
}

function wantsOfInline(cluster: OracleCluster, pod: Pod): Want[] {
  return inlineSizes(pod).flatMap(({ volumeName, driver, text }) => {
    const pools = inlinePools(cluster, driver);
    if (pools === undefined) return [];
    const name = `${keyOf(pod)}:${volumeName}`;
    return [{ name, claim: undefined, size: nanoBytes(text)!, existing: [], making: { driver, pools } }];
  });
}

/** Every way to give each want one of its existing volumes, none of them twice, or a new one. */
function* everyWay(wants: readonly Want[], chosen: Way = []): Iterable<Way> {
  const want = wants[chosen.length];
  if (want === undefined) {
    yield chosen;
    return;
  }
  for (const volume of want.existing) {
    if (!chosen.includes(volume)) yield* everyWay(wants, [...chosen, volume]);
  }
  if (want.making !== undefined) yield* everyWay(wants, [...chosen, undefined]);
}

/** Negative if `a` is better: more existing volumes, less waste, then want by want. */
function compareWays(wants: readonly Want[], a: Way, b: Way): number {
  const byCount = countExisting(b) - countExisting(a);
  if (byCount !== 0) return byCount;
  const [wasteA, wasteB] = [wasteOf(wants, a), wasteOf(wants, b)];
  if (wasteA !== wasteB) return wasteA < wasteB ? -1 : 1;
  for (const [position, left] of a.entries()) {
    const right = b[position];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return compareVolumeObjects(left, right);
  }
  return 0;
}

function countExisting(way: Way): number {
  return way.filter((volume) => volume !== undefined).length;
}

function wasteOf(wants: readonly Want[], way: Way): bigint {
  let waste = 0n;
  for (const [position, volume] of way.entries()) {
    if (volume !== undefined) waste += volumeSize(volume)! - wants[position]!.size;
  }
  return waste;
}

/** Pools for the wants that get a new volume, all at once; undefined if there is no way. */
function firstPools(
  cluster: OracleCluster,
  node: Node,
  wants: readonly Want[],
  way: Way,
): readonly (OraclePool | undefined)[] | undefined {
  const choices = wants.map(({ making, size }, position): readonly (OraclePool | undefined)[] => {
    if (way[position] !== undefined || making?.pools === undefined) return [undefined];
    const { driver, pools } = making;
    return pools.filter((pool) => pool.isReachedFrom(node) && canProvisionIn(cluster, pool, driver, size));
  });
  for (const pools of product(choices)) {
    const takings = pools.flatMap((pool, position): NewVolume[] => {
      const { making, size } = wants[position]!;
      return pool === undefined ? [] : [{ pool, driver: making!.driver, size }];
    });
    if (canProvisionAll(cluster, takings)) return pools;
  }
  return undefined;
}

function* product<T>(choices: readonly (readonly T[])[], chosen: readonly T[] = []): Iterable<readonly T[]> {
  const next = choices[chosen.length];
  if (next === undefined) yield chosen;
  else for (const choice of next) yield* product(choices, [...chosen, choice]);
}

function attaches(
  cluster: OracleCluster,
  node: Node,
  { task, wants, way }: { readonly task: Task; readonly wants: readonly Want[]; readonly way: Way },
): boolean {
  const nodeName = nameOf(node);
  const wanted = [
    ...task.bound.map((volume) => attachedVolume(cluster, volume, nodeName)),
    ...inlineDisks(cluster, task.pod, nodeName),
    ...wants.map(({ claim }, position) => {
      const volume = way[position];
      if (volume !== undefined) return attachedVolume(cluster, volume, nodeName);
      return claim === undefined ? undefined : unprovisionedVolume(cluster, claim, nodeName);
    }),
  ];
  return canAttach(cluster, node, wanted) && hasDrivers(cluster, node, wanted);
}

function assignmentOf(
  wants: readonly Want[],
  way: Way,
  pools: readonly (OraclePool | undefined)[],
): Assignment {
  const volumes = new Map<string, string>();
  const made = new Map<string, string | undefined>();
  for (const [position, { name }] of wants.entries()) {
    const volume = way[position];
    if (volume === undefined) made.set(name, pools[position]?.key);
    else volumes.set(name, nameOf(volume));
  }
  return { volumes, made, waste: wasteOf(wants, way) };
}
