import { disksDriver } from '../../kube/stowage/volume.ts';
import type { DiskObjects } from './disk-objects.ts';

/** `NAMESPACE/NAME` of the claim by the name of the Volume. */
export function claimsOfVolumes({ persistentVolumes = [] }: DiskObjects): ReadonlyMap<string, string> {
  return new Map(
    persistentVolumes.flatMap(({ spec }) => {
      const { csi, claimRef } = spec ?? {};
      if (csi?.driver !== disksDriver || csi.volumeHandle === undefined || claimRef == null) return [];
      return [[csi.volumeHandle, `${claimRef.namespace}/${claimRef.name}`]];
    }),
  );
}
