import type { DiskSchedule } from '../../kube/disks/disk-schedule.ts';

/** The spec of a merge patch that removes the requests of these replicas. Only what is there is named: a patch of a missing map would add an empty one. */
export function removedEntries(
  schedule: Pick<DiskSchedule, 'spec'> | undefined,
  names: readonly string[],
): object {
  const expanded = names.filter((name) => Object.hasOwn(schedule?.spec?.expansions ?? {}, name));
  const removals = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));
  return {
    replicas: removals(names),
    ...(expanded.length > 0 && { expansions: removals(expanded) }),
  };
}
