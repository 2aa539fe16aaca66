import { promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { type Drive, driveVolumesMax } from '../../kube/stowage/drive.ts';

/** Why volumes of a drive, the chosen ones or all, cannot be moved to another, with the remedy; undefined if they can. A source that an earlier call left Repairing can go on. */
export function moveObstacle(source: Drive, target: Drive, chosen?: ReadonlySet<string>): string | undefined {
  const from = readDrive(source);
  const to = readDrive(target);
  if (from.name === to.name) return `drive ${from.name} is both source and target; name two drives`;
  if (from.nodeName !== to.nodeName)
    return `drive ${from.name} is in node ${from.nodeName}, and drive ${to.name} in node ${to.nodeName}; volumes are pinned to their node, so name a drive of node ${from.nodeName}`;
  if (from.filesystem !== '' && from.filesystem === to.filesystem)
    return `the drives ${from.name} and ${to.name} name the same filesystem, so there is nothing to move; name another target`;
  for (const { spec, metadata } of [source, target])
    if (spec?.unschedulable !== true)
      return `drive ${metadata?.name} is not cordoned; run stowage drives cordon ${metadata?.name} first`;
  for (const { status, metadata } of [source, target]) {
    const isInterrupted = metadata === source.metadata && status?.state === 'Repairing';
    if (status?.state !== 'Ready' && !isInterrupted)
      return `drive ${metadata?.name} is ${status?.state ?? 'not reported by its node'}; it must be Ready`;
  }
  const known = new Set([...from.volumes, ...to.volumes].map(({ name }) => name));
  const unknown = [...(chosen ?? [])].find((name) => !known.has(name));
  if (unknown !== undefined)
    return `volume ${unknown} is on neither of the drives ${from.name} and ${to.name}; stowage drives list volumes shows where it is`;
  const volumes = from.volumes.filter(({ name }) => chosen?.has(name) ?? true);
  return ledgerObstacle({ ...from, volumes }, to);
}

function ledgerObstacle(
  from: ReturnType<typeof readDrive>,
  to: ReturnType<typeof readDrive>,
): string | undefined {
  const going = from.volumes.find(({ state }) => state === 'Releasing');
  if (going !== undefined)
    return `volume ${going.name} of drive ${from.name} is being deleted; wait until its data is gone`;
  const inline = from.volumes.find(({ podRef }) => podRef !== undefined);
  if (inline !== undefined)
    return `drive ${from.name} has the inline volume ${inline.name} of pod ${inline.podRef?.namespace}/${inline.podRef?.name}; delete that pod first`;
  // Volumes that an earlier call has copied there need no more bytes.
  const there = new Set(to.volumes.map(({ name }) => name));
  const missing = from.volumes.filter(({ name }) => !there.has(name));
  const needed = promisedBytes({ volumes: missing });
  const free = to.capacityBytes - promisedBytes(to);
  if (needed > free)
    return `the volumes of drive ${from.name} need ${needed} bytes, and drive ${to.name} has ${free} free; name a larger drive, or some of the volumes with --volume`;
  if (to.volumes.length + missing.length > driveVolumesMax)
    return `drive ${to.name} would have more than ${driveVolumesMax} volumes; name another drive`;
  return undefined;
}
