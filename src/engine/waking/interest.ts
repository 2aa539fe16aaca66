import { csiDriverForProvisioner } from '../../kube/legacy/in-tree-migration.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Interest } from '../rules/framework/rule.ts';

/**
 * What a pod depends on, as far as volumes go, read from the index as it is now. `lacksSlots` may be left out where it isn't known
 * what the pod was refused for.
 */
export function interestOf(index: ClusterIndex, pod: PodRecord, lacksSlots = true): Interest {
  const claims = pod.claims.flatMap(({ key }) => index.claims.get(key) ?? []);
  const unbound = claims.filter((claim) => !claim.isBound);
  return {
    pod,
    claimKeys: new Set(pod.claims.map(({ key }) => key)),
    classes: smallestRequests(unbound),
    volumeNames: new Set(claims.flatMap((claim) => volumesOf(index, claim))),
    drivers: new Set([
      ...pod.inlineVolumes.map(({ driver }) => driver),
      ...pod.migratedVolumes.map(({ driver }) => driver),
      ...claims.flatMap((claim) => driversOf(index, claim)),
      ...unbound.flatMap((claim) => [...index.volumes.driversOf(claim.className)]),
    ]),
    lacksSlots,
  };
}

function smallestRequests(claims: readonly ClaimRecord[]): Map<string, number> {
  const smallest = new Map<string, number>();
  for (const { className, request } of claims) {
    const bytes = request?.bytes ?? 0;
    smallest.set(className, Math.min(bytes, smallest.get(className) ?? bytes));
  }
  return smallest;
}

/** The volume that it names, and those that are reserved for it or held by another pod that shares it. */
function volumesOf(index: ClusterIndex, { key, volumeName }: ClaimRecord): string[] {
  const reserved = index.volumes.claimedFor(key).map((volume) => volume.key);
  const held = index.volumes.heldFor(key)?.key ?? '';
  return [volumeName, held, ...reserved].filter((name) => name !== '');
}

/** Of its volumes; or, while it has none, of the one that its class would make. In-tree ones also under CSI's name for them. */
function driversOf(index: ClusterIndex, claim: ClaimRecord): string[] {
  const volumes = volumesOf(index, claim).flatMap((name) => index.volumes.get(name) ?? []);
  const drivers = volumes.flatMap((volume) => [volume.csi?.driver, volume.migrated?.driver]);
  if (index.volumes.get(claim.volumeName) === undefined) {
    const provisioner = index.classes.get(claim.className)?.provisioner ?? '';
    drivers.push(provisioner, csiDriverForProvisioner(provisioner));
  }
  return drivers.filter((driver) => driver !== undefined && driver !== '') as string[];
}
