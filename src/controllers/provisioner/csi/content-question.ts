import type { Cluster } from '../../../cluster/cluster.ts';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { VolumeSnapshot } from './snapshot-objects.ts';

/** The source of a new volume's data. */
export type ContentSource =
  | { readonly kind: 'empty' }
  | { readonly kind: 'snapshot'; readonly snapshotId: string; readonly source: VolumeSnapshot }
  | { readonly kind: 'clone'; readonly volumeId: string; readonly source: PersistentVolumeClaim };

export interface ContentQuestion {
  readonly cluster: Cluster;
  readonly driver: ServedCsiDriver;
  readonly claim: PersistentVolumeClaim;
  readonly requestedBytes: bigint;
}
