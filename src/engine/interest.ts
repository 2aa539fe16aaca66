import type { ClusterIndex } from './index/cluster-index.ts';
import type { PodRecord } from './records/pod-record.ts';
import type { Interest } from './rules/rule.ts';

/** What a pod depends on, as far as volumes go, read from the index as it is now. */
export function interestOf(index: ClusterIndex, pod: PodRecord): Interest {
  const classes = new Map<string, number>();
  const volumeNames = new Set<string>();
  const drivers = new Set(pod.inlineVolumes.map(({ driver }) => driver));
  for (const { driver } of pod.migratedVolumes) drivers.add(driver);
  for (const { key } of pod.claims) {
    const claim = index.claims.get(key);
    if (claim === undefined) continue;
    if (claim.volumeName !== '') volumeNames.add(claim.volumeName);
    for (const volume of index.volumes.claimedFor(key)) volumeNames.add(volume.key);
    if (!claim.isBound) {
      const request = claim.request?.bytes ?? 0;
      classes.set(claim.className, Math.min(request, classes.get(claim.className) ?? request));
    }
    const volume = index.volumes.get(claim.volumeName);
    const provisioner = index.classes.get(claim.className)?.provisioner;
    for (const driver of [volume?.csi?.driver, volume?.migrated?.driver, provisioner]) {
      if (driver !== undefined) drivers.add(driver);
    }
    if (!claim.isBound) for (const driver of index.volumes.driversOf(claim.className)) drivers.add(driver);
  }
  return {
    podKey: pod.key,
    claimKeys: new Set(pod.claims.map(({ key }) => key)),
    classes,
    volumeNames,
    drivers,
  };
}
