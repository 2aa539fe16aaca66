import { readDiskCandidate } from '../../engine/disks/disk-candidate.ts';
import { readDiskClass } from '../../engine/disks/disk-class.ts';
import { DiskFilling, type VolumeToFit } from '../../engine/headroom/disk-headroom.ts';
import type { ReplicaToFit } from '../../engine/headroom/headroom.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { diskSettingsName } from '../../kube/stowage/disk-settings.ts';
import { disksDriver } from '../../kube/stowage/volume.ts';
import { claimClassName } from '../../kube/volumes.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/** Whether the volumes of replicas fit on the disks of the cluster, one replica after the other. */
export class DiskFit {
  readonly #view: ClusterView;
  readonly #filling: DiskFilling | undefined;

  constructor(view: ClusterView) {
    this.#view = view;
    const { disks } = view;
    if (disks === undefined) return;
    const settings = disks.settings.find(({ metadata }) => metadata?.name === diskSettingsName)?.spec;
    const nodes = new Map(disks.nodes.map((node) => [node.metadata?.name ?? '', node]));
    this.#filling = new DiskFilling(
      disks.schedules.map((schedule) =>
        readDiskCandidate(schedule, nodes.get(schedule.spec?.nodeID ?? ''), settings),
      ),
    );
  }

  /** Why the last replica did not fit. */
  get shortage(): string | undefined {
    return this.#filling?.shortage;
  }

  /** True if nothing is known about the disks, or if the replica does not need any. */
  place({ claims }: ReplicaToFit): boolean {
    const volumes = claims.flatMap((claim): readonly VolumeToFit[] => {
      const storageClass = this.#view.snapshot.get('StorageClass', claimClassName(claim));
      if (storageClass?.provisioner !== disksDriver) return [];
      const read = readDiskClass(storageClass.parameters ?? {});
      const bytes = Number(bytesOf(claim.spec?.resources?.requests?.storage));
      return read.ok ? [{ diskClass: read.value, bytes }] : [];
    });
    return volumes.length === 0 || (this.#filling?.place(volumes) ?? true);
  }
}
