import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import { annotations } from '../../../../kube/well-known.ts';

/** The class of a volume or a claim. The beta annotation, which is older than the field, takes precedence. */
export function classNameOf(metadata: ObjectMeta, storageClassName: string | undefined): string {
  return betaClassOf(metadata) ?? storageClassName ?? '';
}

export function betaClassOf(metadata: ObjectMeta): string | undefined {
  return metadata.annotations?.[annotations.betaStorageClass];
}
