import type { KubeObject } from '../../kube/api/meta.ts';
import { textOf } from '../../kube/wire.ts';

/**
 * What every record keeps of its object's metadata. Readers spell the four fields out rather than spreading them: an object
 * literal with a spread costs ten times as much to make, and there are a hundred thousand volumes.
 */
export interface Identity {
  /** `name`, or `namespace/name` for what lives in a namespace. */
  readonly key: string;
  readonly uid: string;
  /** The resourceVersion: two records of one key and version are the same object. */
  readonly version: string;
  readonly isDeleting: boolean;
}

export function clusterIdentity(object: KubeObject): Identity {
  return identityOf(object, textOf(object.metadata?.name));
}

export function namespacedIdentity(object: KubeObject): Identity {
  return identityOf(object, `${textOf(object.metadata?.namespace)}/${textOf(object.metadata?.name)}`);
}

function identityOf(object: KubeObject, key: string): Identity {
  const metadata = object.metadata;
  return {
    key,
    uid: textOf(metadata?.uid),
    version: textOf(metadata?.resourceVersion),
    isDeleting: metadata?.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
  };
}
