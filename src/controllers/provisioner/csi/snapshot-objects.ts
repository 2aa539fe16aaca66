import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Resource } from '../../../kube/resource.ts';

export const snapshotGroup = 'snapshot.storage.k8s.io';

/** The fields that we read; the kind is defined by the snapshot controller's CustomResourceDefinition. */
export interface VolumeSnapshot extends KubeObject {
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
  };
}

export interface VolumeSnapshotContent extends KubeObject {
  readonly spec?: {
    readonly driver?: string;
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotRef?: {
      readonly uid?: string;
      readonly namespace?: string;
      readonly name?: string;
    };
  };
  readonly status?: { readonly snapshotHandle?: string; readonly restoreSize?: number };
}

const common = { group: snapshotGroup, version: 'v1', isOptional: true };

export const volumeSnapshots: Resource<VolumeSnapshot> = {
  ...common,
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  namespaced: true,
};

export const volumeSnapshotContents: Resource<VolumeSnapshotContent> = {
  ...common,
  kind: 'VolumeSnapshotContent',
  plural: 'volumesnapshotcontents',
  namespaced: false,
};
