import type { ObjectMeta } from '../../kube/api/meta.ts';

/**
 * On a Node or Drive that `stowage move` has cordoned: the drive that is emptied. It is written and removed together with the cordon. A cordon
 * without it is that of a person, who has to remove it.
 */
export const moveCordonKey = 'stowage.dev/cordoned-for-move';

/** The drive for which `stowage move` has cordoned the object. */
export function cordonedForDrive({ metadata }: { readonly metadata?: ObjectMeta }): string | undefined {
  return metadata?.annotations?.[moveCordonKey];
}
