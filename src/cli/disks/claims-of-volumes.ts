import type { DiskObjects } from './disk-objects.ts';

/** The CSI driver of PersistentVolumes that are Volumes on disks. */
const driver = 'disks.stowage.dev';

/** `NAMESPACE/NAME` of the claim by the name of the Volume. */
export function claimsOfVolumes({ persistentVolumes = [] }: DiskObjects): ReadonlyMap<string, string> {
  return new Map(
    persistentVolumes.flatMap(({ spec }) => {
      const { csi, claimRef } = spec ?? {};
      if (csi?.driver !== driver || csi.volumeHandle === undefined || claimRef == null) return [];
      return [[csi.volumeHandle, `${claimRef.namespace}/${claimRef.name}`]];
    }),
  );
}
