import { readDiskCandidate } from '../../engine/disks/disk-candidate.ts';
import { readDiskClass } from '../../engine/disks/disk-class.ts';
import { diskShortage } from '../../engine/disks/disk-shortage.ts';
import { withImageDemand } from '../../engine/disks/images/image-demand.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { diskSettingsName } from '../../kube/stowage/disk-settings.ts';
import { disksDriver } from '../../kube/stowage/volume.ts';
import { claimClassName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/**
 * Missing bytes of the disks for an unbound claim of `disks.stowage.dev`: as its Volume states if there is one, else of the closest disk. Undefined for other
 * claims, and if nothing is missing or nothing is known.
 */
export function diskRoomText({ snapshot, disks }: ClusterView, claimKey: string): string | undefined {
  const claim = snapshot.get('PersistentVolumeClaim', claimKey);
  if (disks === undefined || claim === undefined || textOf(claim.spec?.volumeName) !== '') return undefined;
  const storageClass = snapshot.get('StorageClass', claimClassName(claim));
  if (storageClass?.provisioner !== disksDriver) return undefined;
  const name = `pvc-${claim.metadata?.uid}`;
  const volume = disks.volumes.find(({ metadata }) => metadata?.name === name);
  if (volume !== undefined) {
    const allocation = volume.status?.conditions?.find(({ type }) => type === 'DiskAllocation');
    return allocation?.status === 'True' ? undefined : `Volume ${name}: ${allocation?.message ?? 'is new'}`;
  }
  const read = readDiskClass(storageClass.parameters ?? {});
  if (!read.ok) return undefined;
  const settings = disks.settings.find(({ metadata }) => metadata?.name === diskSettingsName)?.spec;
  const candidates = disks.schedules.map((schedule) => {
    const node = disks.nodes.find(({ metadata }) => metadata?.name === schedule.spec?.nodeID);
    return readDiskCandidate(schedule, node, settings);
  });
  const image = disks.images?.find(({ metadata }) => metadata?.name === read.value.backingImage);
  const schedules = new Map(disks.schedules.map((schedule) => [schedule.metadata?.name ?? '', schedule]));
  const withImage = withImageDemand(image, candidates, schedules);
  return diskShortage(withImage, read.value, Number(bytesOf(claim.spec?.resources?.requests?.storage)));
}
