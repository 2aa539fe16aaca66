import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resources.ts';

/** Longer than the resync period of the PV controller. */
const steadyMs = 1_300;
const pollMs = 150;
/** A pod whose binding has failed a few times waits for seconds; the machine may be busy. */
const consistentMaxMs = 180_000;

/**
 * Waits until pods, claims and volumes of the namespaces are consistent, and still are after a resync of the PV controller. Returns the
 * remaining problems by namespace.
 */
export async function untilConsistent(
  cluster: Cluster,
  expected: readonly ExpectedNamespace[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const look = async () => {
    const seen = await lookAt(cluster);
    const all = expected.map((each) => [each.namespace, problemsOf(seen, each)] as const);
    return new Map(all.filter(([, problems]) => problems.length > 0));
  };
  const giveUpMs = Date.now() + consistentMaxMs;
  for (;;) {
    let wrong = await look();
    if (wrong.size === 0) {
      await sleep(steadyMs);
      wrong = await look();
      if (wrong.size === 0) return wrong;
    }
    if (Date.now() > giveUpMs) return wrong;
    await sleep(pollMs);
  }
}

export interface ExpectedNamespace {
  readonly namespace: string;
  /** Pods that need no node if all disks of the class named after the namespace are bound. */
  readonly mayWait?: readonly string[];
}

interface Seen {
  readonly pods: readonly Pod[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
}

async function lookAt(cluster: Cluster): Promise<Seen> {
  const [all, claims, volumes] = await Promise.all([
    cluster.resource(pods).list(),
    cluster.resource(persistentVolumeClaims).list(),
    cluster.resource(persistentVolumes).list(),
  ]);
  return { pods: all.items, claims: claims.items, volumes: volumes.items };
}

function problemsOf(seen: Seen, { namespace, mayWait = [] }: ExpectedNamespace): readonly string[] {
  const isIn = ({ metadata }: Pod | PersistentVolumeClaim) => metadata?.namespace === namespace;
  const claims = seen.claims.filter(isIn);
  const held = seen.volumes.filter(({ spec }) => spec?.claimRef?.namespace === namespace);
  const free = seen.volumes.filter(({ spec }) => spec?.storageClassName === namespace && !spec?.claimRef);
  const isExcused = ({ metadata, spec }: Pod) =>
    mayWait.includes(metadata?.name ?? '') && !spec?.nodeName && free.length === 0;
  return [
    ...seen.pods
      .filter((pod) => isIn(pod) && !isExcused(pod))
      .flatMap((pod) => podProblems(pod, claims, held)),
    ...claims.flatMap((claim) => claimProblems(claim, held)),
    ...held.flatMap((volume) => volumeProblems(volume, claims)),
  ];
}

/** The pod has a node, and all its volumes are bound and usable there. */
function podProblems(
  { metadata, spec }: Pod,
  claims: readonly PersistentVolumeClaim[],
  held: readonly PersistentVolume[],
): readonly string[] {
  const node = spec?.nodeName ?? '';
  if (node === '') return [`pod ${metadata?.name} has no node`];
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    const claim = claims.find((each) => each.metadata?.name === persistentVolumeClaim?.claimName);
    const volume = held.find((each) => each.metadata?.name === claim?.spec?.volumeName);
    const name = `the volume of ${claim?.metadata?.name}`;
    if (claim?.status?.phase !== 'Bound' || volume === undefined) return [`${name} is missing`];
    return [undefined, node].includes(nodeOfDisk(volume)) ? [] : [`${name} is not on ${node}`];
  });
}

function claimProblems(
  { metadata, spec, status }: PersistentVolumeClaim,
  held: readonly PersistentVolume[],
): readonly string[] {
  const named = spec?.volumeName ?? '';
  const phase = named === '' ? 'Pending' : 'Bound';
  const volume = held.find((each) => each.metadata?.name === named);
  return [
    ...(status?.phase === phase ? [] : [`claim ${metadata?.name} names "${named}" and is ${status?.phase}`]),
    ...(named === '' || volume?.spec?.claimRef?.uid === metadata?.uid
      ? []
      : [`claim ${metadata?.name} names ${named}, which is not its own`]),
  ];
}

/** No volume is reserved for a claim that does not use it. */
function volumeProblems(
  { metadata, spec, status }: PersistentVolume,
  claims: readonly PersistentVolumeClaim[],
): readonly string[] {
  const owner = claims.find((each) => each.metadata?.uid === spec?.claimRef?.uid);
  const isIts = owner?.spec?.volumeName === metadata?.name;
  if (isIts && status?.phase === 'Bound') return [];
  return [`volume ${metadata?.name} is held for ${spec?.claimRef?.name} and is ${status?.phase}`];
}

function nodeOfDisk({ spec }: PersistentVolume): string | undefined {
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.[0]?.values?.[0];
}
