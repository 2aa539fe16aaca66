import type { Pod } from '../../kube/api/core.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';

/**
 * The claims that a pod uses, by name, also those that are made for its ephemeral volumes. A pod that its node is done with
 * (deleted, no grace left) holds its ephemeral ones no longer, so that neither waits for the other.
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
