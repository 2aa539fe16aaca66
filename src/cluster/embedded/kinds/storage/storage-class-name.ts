import { annotations } from '../../../../kube/well-known.ts';
import type { ObjectMeta } from '../../schema/generated/meta-v1.ts';

/** The class of a volume or a claim. The annotation that was there before the field still wins over it. */
export function classNameOf(metadata: ObjectMeta, storageClassName: string | undefined): string {
  return betaClassOf(metadata) ?? storageClassName ?? '';
}

export function betaClassOf(metadata: ObjectMeta): string | undefined {
  return metadata.annotations?.[annotations.betaStorageClass];
}
