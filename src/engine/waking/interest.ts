import { csiDriverForProvisioner } from '../../kube/legacy/in-tree-migration.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { apartGroupOf } from '../cluster-index/pools/policies/apart-group.ts';
import { spreadGroupOf } from '../cluster-index/pools/policies/spread-group.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Interest } from '../rules/framework/rule.ts';

/**
 * Reads from the current index the objects that a pod depends on because of its volumes. `lacksSlots` defaults to true, for callers that do
 * not know why the pod was refused.
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
    spreadGroups: new Set(unbound.flatMap((claim) => spreadGroupOf(index, claim, pod) ?? [])),
    apartGroups: new Set(unbound.flatMap((claim) => apartGroupOf(index, claim, pod) ?? [])),
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

/** The volume that the claim names, and those that are reserved for it or held for another pod that shares the claim. */
function volumesOf(index: ClusterIndex, { key, volumeName }: ClaimRecord): string[] {
  const reserved = index.volumes.claimedFor(key).map((volume) => volume.key);
  const held = index.volumes.heldFor(key)?.key ?? '';
  return [volumeName, held, ...reserved].filter((name) => name !== '');
}

/** The drivers of the claim's volumes, or the driver of its class while it has none; for in-tree drivers also the CSI name. */
function driversOf(index: ClusterIndex, claim: ClaimRecord): string[] {
  const volumes = volumesOf(index, claim).flatMap((name) => index.volumes.get(name) ?? []);
  const drivers = volumes.flatMap((volume) => [volume.csi?.driver, volume.migrated?.driver]);
  if (index.volumes.get(claim.volumeName) === undefined) {
    const provisioner = index.classes.get(claim.className)?.provisioner ?? '';
    drivers.push(provisioner, csiDriverForProvisioner(provisioner));
  }
  return drivers.filter((driver) => driver !== undefined && driver !== '') as string[];
}
