import type { Pod } from '../../kube/api/core.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';
import { listOf, textOf } from '../../kube/wire.ts';

/** The claims that the pod names, and those of its ephemeral volumes. */
export function claimKeys({ metadata, spec }: Pod): string[] {
  return listOf(spec?.volumes).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [`${metadata?.namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral
      ? [`${metadata?.namespace}/${ephemeralClaimName(textOf(metadata?.name), textOf(name))}`]
      : [];
  });
}
