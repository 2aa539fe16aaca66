import type { Volume } from '../../kube/api/core.ts';
import { isRecord, textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/** A disk that is named in the pod itself and that pods of one node can't share, unless all of them only read. */
export interface DiskUse {
  /** Equal keys, the same disk. An RBD image has a key for each of its monitors: one in common makes it the same. */
  readonly key: string;
  readonly isReadOnly: boolean;
}

/** As kube-scheduler has it: GCE disks, EBS volumes, iSCSI targets and RBD images. */
export const exclusiveDisks = memoByShape((spec: ShapeSpec): readonly DiskUse[] =>
  spec.exclusiveDisks.flatMap(usesOf),
);

function usesOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): DiskUse[] {
  const uses: DiskUse[] = [];
  if (isRecord(gcePersistentDisk))
    uses.push(use(['gce', gcePersistentDisk.pdName], gcePersistentDisk.readOnly));
  // EBS volumes are never shared, not even for reading.
  if (isRecord(awsElasticBlockStore)) uses.push(use(['ebs', awsElasticBlockStore.volumeID], false));
  if (isRecord(iscsi)) uses.push(use(['iscsi', iscsi.iqn], iscsi.readOnly));
  if (isRecord(rbd)) {
    const { monitors, pool, image, readOnly } = rbd;
    for (const monitor of new Set(nonNullItems(monitors as readonly unknown[])))
      uses.push(use(['rbd', monitor, pool, image], readOnly));
  }
  return uses;
}

function use(parts: readonly unknown[], readOnly: unknown): DiskUse {
  return { key: JSON.stringify(parts.map(textOf)), isReadOnly: readOnly === true };
}
