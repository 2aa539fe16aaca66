import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import { annotations } from '../../../../kube/well-known.ts';

/** The class of a volume or a claim. The annotation that was there before the field still wins over it. */
export function classNameOf(metadata: ObjectMeta, storageClassName: string | undefined): string {
  return betaClassOf(metadata) ?? storageClassName ?? '';
}

export function betaClassOf(metadata: ObjectMeta): string | undefined {
  return metadata.annotations?.[annotations.betaStorageClass];
}
