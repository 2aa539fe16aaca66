import type { PersistentVolumeClaim, Pod, Volume } from '../../kube/api/core.ts';
import { keyOf } from '../../kube/object-key.ts';
import { isControlledBy } from '../../kube/owner-references.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';

/** One generic ephemeral volume of a pod. */
export interface EphemeralVolume {
  readonly volumeName: string;
  readonly claimName: string;
  /** The claim to create. */
  readonly claim: PersistentVolumeClaim;
}

/** The claims that a pod needs for its generic ephemeral volumes. None once it is being deleted. */
export function ephemeralVolumesOf(pod: Pod): readonly EphemeralVolume[] {
  if (pod.metadata?.deletionTimestamp !== undefined) return [];
  return (pod.spec?.volumes ?? []).flatMap((volume) =>
    volume.ephemeral === undefined ? [] : [describe(pod, volume)],
  );
}

/** Why the claim cannot be used for the pod; undefined if it is the pod's own. */
export function claimConflict(claim: PersistentVolumeClaim, pod: Pod): string | undefined {
  if (claim.metadata?.namespace === pod.metadata?.namespace && isControlledBy(claim, pod)) return undefined;
  return `PVC ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`;
}

/**
 * The pods, as `NAMESPACE/NAME`, that may have an ephemeral volume with a claim of this name. Both names may contain dashes, so
 * the pod's name may end at any of them.
 */
export function podsThatMayUse(claim: PersistentVolumeClaim): readonly string[] {
  const { namespace = '', name = '' } = claim.metadata ?? {};
  const parts = name.split('-');
  return parts.slice(1).map((_, index) => `${namespace}/${parts.slice(0, index + 1).join('-')}`);
}

function describe(pod: Pod, volume: Volume): EphemeralVolume {
  const { name = '', namespace, uid = '' } = pod.metadata ?? {};
  const volumeName = volume.name ?? '';
  const claimName = ephemeralClaimName(name, volumeName);
  const { metadata, spec } = volume.ephemeral?.volumeClaimTemplate ?? {};
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true };
  const claim: PersistentVolumeClaim = {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name: claimName,
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [owner],
    },
    ...(spec === undefined ? {} : { spec }),
  };
  return { volumeName, claimName, claim };
}
