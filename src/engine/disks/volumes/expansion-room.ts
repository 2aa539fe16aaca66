import type { DiskCandidate } from '../choose-disk.ts';
import { requestDemand } from '../disk-candidate.ts';
import type { ReplicaView } from './volume-model.ts';

/** Bytes that an expansion needs beyond what its replicas count for already, by the UUID of the disk. */
export type ExpansionNeeds = ReadonlyMap<string, number>;

/** Undefined if a replica has no disk or its disk no schedule: then no expansion can be granted. */
export function expansionNeeds(replicas: readonly ReplicaView[], bytes: number): ExpansionNeeds | undefined {
  const needs = new Map<string, number>();
  for (const { place, entry, isDeleting } of replicas) {
    if (isDeleting) continue;
    if (place === undefined || entry === undefined) return undefined;
    const more = bytes - requestDemand(entry.askedBytes ?? 0, entry.verdict);
    needs.set(place.uuid, (needs.get(place.uuid) ?? 0) + more);
  }
  return needs;
}

/**
 * Whether every disk would grant its part. The bytes that the expansion itself holds count for it, so that those that it returns do not look like free
 * bytes. A refusal is a verdict of the disk's last pass, so right after it the result is false, whatever this process knows of the disk: the limit of that
 * pass counts, and a disk that has not answered all requests grants nothing.
 */
export function canGrantExpansion(
  needs: ExpansionNeeds,
  diskOf: (uuid: string) => DiskCandidate | undefined,
): boolean {
  return [...needs].every(([uuid, bytes]) => {
    const freeBytes = grantableBytes(diskOf(uuid));
    return freeBytes !== undefined && (bytes <= 0 || bytes <= freeBytes);
  });
}

/** Undefined if the disk gives no verdicts now. */
function grantableBytes(disk: DiskCandidate | undefined): number | undefined {
  if (disk?.state.kind !== 'ready' || disk.answeredLimitBytes === undefined) return undefined;
  return Math.min(disk.state.limitBytes, disk.answeredLimitBytes) - disk.demandBytes;
}
