import type { Pod } from '../../kube/api/core.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';

/**
 * The names of the claims that a pod uses, including those of its ephemeral volumes. A pod that its node has finished
 * (deleted, no grace left) no longer holds its ephemeral claims, so that neither waits for the other.
 */
export function claimNamesOf({ metadata, spec }: Pod): readonly string[] {
  const isShutDown = metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral !== undefined && !isShutDown
      ? [ephemeralClaimName(metadata?.name ?? '', name ?? '')]
      : [];
  });
}
