import type { Cluster } from '../../../cluster/cluster.ts';
import type { PersistentVolume, SecretReference } from '../../../kube/api/core.ts';
import { storageClasses } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { volumeClassName } from '../../../kube/volumes.ts';
import { lookUp } from '../../../kube/wire.ts';
import { readClassParameters } from './class-parameters.ts';
import { deletionSecretName, deletionSecretNamespace } from './created-volume.ts';
import { secretReferences } from './secret-references.ts';

/**
 * The Secret with which the volume was created, for its deletion: as the volume names it, or else as its class does. Volumes of old
 * versions of external-provisioner do not name it.
 */
export async function deletionSecretOf(
  cluster: Cluster,
  volume: PersistentVolume,
  signal: AbortSignal,
): Promise<SecretReference | undefined> {
  const { annotations } = volume.metadata ?? {};
  const name = lookUp(annotations, deletionSecretName);
  const namespace = lookUp(annotations, deletionSecretNamespace);
  if (name !== undefined && namespace !== undefined)
    return name === '' || namespace === '' ? undefined : { name, namespace };
  const className = volumeClassName(volume);
  if (className === '') return undefined;
  const classes = cluster.resource(storageClasses);
  const storageClass = await undefinedIfNotFound(classes.get({ name: className }, { signal }));
  const parameters = readClassParameters(storageClass?.parameters);
  if (parameters.kind === 'refused') return undefined;
  const { claimRef } = volume.spec ?? {};
  const claim = { metadata: { name: claimRef?.name ?? '', namespace: claimRef?.namespace ?? '' } };
  return secretReferences(parameters.secrets, claim, volume.metadata?.name ?? '').get('provisioner');
}
