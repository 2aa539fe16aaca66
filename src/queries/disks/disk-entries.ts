import type { DiskUserKind } from '../../engine/disks/decide-disk.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import { claimsOfVolumes } from './claims-of-volumes.ts';
import type { DiskObjects } from './disk-objects.ts';
import type { DiskEntryLine } from './disks-report.ts';
import { compareText, type KnownDisk } from './known-disks.ts';

/** The replicas and images that request or have bytes of a disk, without their Volumes: replicas first, then images, by name. */
export function diskEntries({
  schedule,
  state,
}: Pick<KnownDisk, 'schedule' | 'state'>): readonly DiskEntryLine[] {
  if (schedule === undefined) return [];
  const limitBytes = state.kind === 'ready' ? state.limitBytes : undefined;
  const freeBytes = limitBytes === undefined ? undefined : limitBytes - scheduledBytesOf(schedule);
  return (['replicas', 'backingImages'] as const).flatMap((kind) =>
    entryNames(schedule, kind).map((name) => entryLine(schedule, kind, name, freeBytes)),
  );
}

/** The same with the Volume and the claim of each replica. */
export function ownedEntries(disk: KnownDisk, objects: DiskObjects): readonly DiskEntryLine[] {
  const claims = claimsOfVolumes(objects);
  const volumes = new Map(
    (objects.replicas ?? []).map(({ metadata, spec }) => [metadata?.name ?? '', spec?.volumeName]),
  );
  return diskEntries(disk).map((entry) => {
    const volume = entry.kind === 'replica' ? volumes.get(entry.name) : undefined;
    return { ...entry, volume, claim: claims.get(volume ?? '') };
  });
}

/** The sum of what was granted. */
export function scheduledBytesOf({ status }: DiskSchedule): number {
  const verdicts = [...Object.values(status?.replicas ?? {}), ...Object.values(status?.backingImages ?? {})];
  return verdicts.reduce((sum, { scheduledSize = 0 }) => sum + scheduledSize, 0);
}

function entryNames({ spec, status }: DiskSchedule, kind: DiskUserKind): readonly string[] {
  const names = new Set([...Object.keys(spec?.[kind] ?? {}), ...Object.keys(status?.[kind] ?? {})]);
  return [...names].sort(compareText);
}

function entryLine(
  { spec, status }: DiskSchedule,
  kind: DiskUserKind,
  name: string,
  freeBytes: number | undefined,
): DiskEntryLine {
  const asked = ownValue(spec?.[kind], name);
  const verdict = ownValue(status?.[kind], name);
  const scheduledBytes = verdict?.scheduledSize ?? 0;
  const line = {
    kind: kind === 'replicas' ? 'replica' : 'image',
    name,
    requestedBytes: asked ?? 0,
    scheduledBytes,
  } as const;
  if (asked === undefined) return { ...line, state: 'releasing' };
  if (verdict === undefined || verdict.observedSize !== asked) return { ...line, state: 'pending' };
  const { state, reason } = verdict;
  const lacks = state === 'rejected' && reason === 'InsufficientStorage' && freeBytes !== undefined;
  return {
    ...line,
    state,
    reason,
    missingBytes: lacks ? Math.max(0, asked - scheduledBytes - freeBytes) : undefined,
  };
}
