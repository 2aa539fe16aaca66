import type { MergePatchBody } from '../../../bind/binding-patches.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { ObjectMeta } from '../../../kube/api/meta.ts';
import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import { annotations, finalizers } from '../../../kube/well-known.ts';

/*
 * Claims and volumes of plugins that were migrated from Kubernetes to CSI name the driver that handles them now, so that its
 * provisioner processes them. The driver's finalizer replaces the one of the plugin, which no component would remove.
 */

export function claimMigration({ metadata }: PersistentVolumeClaim): MergePatchBody | undefined {
  const { storageProvisioner, betaStorageProvisioner } = annotations;
  const known = metadata?.annotations ?? {};
  const change = migratedTo(metadata, known[storageProvisioner] ?? known[betaStorageProvisioner]);
  return change && { metadata: { annotations: change } };
}

export function volumeMigration({ metadata, spec }: PersistentVolume): MergePatchBody | undefined {
  const provisioner = metadata?.annotations?.[annotations.provisionedBy];
  if (provisioner === undefined) return undefined;
  const change = migratedTo(metadata, provisioner);
  const isMigrated = csiDriverForProvisioner(provisioner) !== undefined;
  const isKept = spec?.persistentVolumeReclaimPolicy !== 'Delete';
  const held = metadata?.finalizers ?? [];
  const isInTree = isMigrated || provisioner.startsWith('kubernetes.io/');
  const isStale = isInTree && (isMigrated || isKept) && held.includes(finalizers.pvController);
  if (change === undefined && !isStale) return undefined;
  return {
    metadata: {
      ...(change && { annotations: change }),
      ...(isStale && { finalizers: held.filter((name) => name !== finalizers.pvController) }),
    },
  };
}

function migratedTo(
  metadata: ObjectMeta | undefined,
  provisioner: string | undefined,
): Readonly<Record<string, string | null>> | undefined {
  if (provisioner === undefined) return undefined;
  const driver = csiDriverForProvisioner(provisioner);
  const current = metadata?.annotations?.[annotations.migratedTo];
  if (driver !== undefined) return current === driver ? undefined : { [annotations.migratedTo]: driver };
  return current === undefined || current === '' ? undefined : { [annotations.migratedTo]: null };
}
