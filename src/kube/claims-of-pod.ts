import type { Pod } from './api/core.ts';
import { ephemeralClaimName } from './volumes.ts';

/**
 * The names of the claims that a pod uses, including those of its ephemeral volumes. A pod that its node has finished
 * (deleted, no grace left) no longer holds its ephemeral claims, so that neither waits for the other.
 */
export function claimNamesOf(pod: Pod): readonly string[] {
  const { metadata, spec } = pod;
  const isShutDown = metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  if (!isShutDown) return allClaimNamesOf(pod);
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

/** The names of the claims that a pod uses or used: those to look at when the pod changes. */
export function allClaimNamesOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [ephemeralClaimName(metadata?.name ?? '', name ?? '')];
  });
}
