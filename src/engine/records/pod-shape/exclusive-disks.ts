import type { Volume } from '../../../kube/api/core.ts';
import { isRecord, textOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/** A disk that a pod spec names directly. Pods of one node can't share it, unless all of them only read. */
export interface DiskUse {
  /** Equal for the same disk. An RBD image has one key per monitor: two images are the same if they share a monitor. */
  readonly key: string;
  readonly isReadOnly: boolean;
}

/** As in kube-scheduler: GCE disks, EBS volumes, iSCSI targets and RBD images. */
export const exclusiveDisks = memoByShape((spec: ShapeSpec): readonly DiskUse[] =>
  spec.exclusiveDisks.flatMap(diskUses),
);

function diskUses({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): DiskUse[] {
  const uses: DiskUse[] = [];
  if (isRecord(gcePersistentDisk))
    uses.push(diskUse(['gce', gcePersistentDisk.pdName], gcePersistentDisk.readOnly));
  // EBS volumes are never shared, not even for reading.
  if (isRecord(awsElasticBlockStore)) uses.push(diskUse(['ebs', awsElasticBlockStore.volumeID], false));
  if (isRecord(iscsi)) uses.push(diskUse(['iscsi', iscsi.iqn], iscsi.readOnly));
  if (isRecord(rbd)) {
    const { monitors, pool, image, readOnly } = rbd;
    for (const monitor of new Set(nonNullItems(monitors as readonly unknown[])))
      uses.push(diskUse(['rbd', monitor, pool, image], readOnly));
  }
  return uses;
}

function diskUse(parts: readonly unknown[], readOnly: unknown): DiskUse {
  return { key: JSON.stringify(parts.map(textOf)), isReadOnly: readOnly === true };
}
