import type { CsiReply } from '../../../csi/csi-methods.ts';
import type {
  CSIPersistentVolumeSource,
  PersistentVolumeClaim,
  VolumeNodeAffinity,
} from '../../../kube/api/core.ts';
import { sortedKeys } from '../../../kube/sorted-keys.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { CreatedVolume } from '../provisioner.ts';
import type { SecretReferences } from './secret-references.ts';

/** The PersistentVolume's secret for deletion; empty values if there is none. */
export const deletionSecretName = 'volume.kubernetes.io/provisioner-deletion-secret-name';
export const deletionSecretNamespace = 'volume.kubernetes.io/provisioner-deletion-secret-namespace';
/** The key in `volumeAttributes` of the provisioner, and its run, that created the volume. */
const identityAttribute = 'storage.kubernetes.io/csiProvisionerIdentity';

export interface CreationReport {
  readonly driver: string;
  readonly hasTopology: boolean;
  readonly identity: string;
  readonly createdAtMs: number;
  /** The node of the driver, if each node has one; undefined otherwise. */
  readonly nodeName?: string | undefined;
  readonly claim: PersistentVolumeClaim;
  readonly fsType: string;
  readonly secrets: SecretReferences;
  /** Undefined if the volume has no mutable parameters. */
  readonly attributesClassName: string | undefined;
}

/** The fields of the PersistentVolume for what the driver replied. */
export function createdVolume(
  reply: NonNullable<CsiReply<'CreateVolume'>['volume']>,
  report: CreationReport,
): CreatedVolume {
  const deletion = report.secrets.get('provisioner');
  const affinity = report.hasTopology ? affinityOfTopologies(reply.accessibleTopology) : undefined;
  return {
    source: { csi: csiSource(reply, report) },
    ...(affinity === undefined ? {} : { nodeAffinity: affinity }),
    // 0: the driver does not say.
    ...(reply.capacityBytes === 0n ? {} : { capacityBytes: reply.capacityBytes }),
    ...(report.attributesClassName === undefined
      ? {}
      : { volumeAttributesClassName: report.attributesClassName }),
    annotations: {
      [deletionSecretName]: deletion?.name ?? '',
      [deletionSecretNamespace]: deletion?.namespace ?? '',
      // Taken after the response, so that a capacity report that is measured later includes the volume.
      [annotations.volumeCreatedAt]: new Date(report.createdAtMs).toISOString(),
      ...(report.nodeName !== undefined && { [annotations.creatorNode]: report.nodeName }),
    },
  };
}

function csiSource(
  { volumeId, volumeContext }: NonNullable<CsiReply<'CreateVolume'>['volume']>,
  { driver, identity, claim, fsType, secrets }: CreationReport,
): CSIPersistentVolumeSource {
  const reference = (field: keyof CSIPersistentVolumeSource, use: Parameters<typeof secrets.get>[0]) => {
    const secret = secrets.get(use);
    return secret === undefined ? {} : { [field]: secret };
  };
  return {
    driver,
    volumeHandle: volumeId,
    ...(volumeModeOf(claim) === 'Block' || fsType === '' ? {} : { fsType }),
    volumeAttributes: { ...volumeContext, [identityAttribute]: identity },
    ...reference('controllerPublishSecretRef', 'controller-publish'),
    ...reference('nodeStageSecretRef', 'node-stage'),
    ...reference('nodePublishSecretRef', 'node-publish'),
    ...reference('controllerExpandSecretRef', 'controller-expand'),
    ...reference('nodeExpandSecretRef', 'node-expand'),
  };
}

/** One term for each topology. A topology without labels is every node, so there is no affinity then. */
function affinityOfTopologies(
  topologies: readonly { readonly segments: Readonly<Record<string, string>> }[],
): VolumeNodeAffinity | undefined {
  if (topologies.length === 0 || topologies.some(({ segments }) => Object.keys(segments).length === 0))
    return undefined;
  const nodeSelectorTerms = topologies.map(({ segments }) => ({
    matchExpressions: sortedKeys(segments).map((key) => ({
      key,
      operator: 'In' as const,
      values: [segments[key] ?? ''],
    })),
  }));
  return { required: { nodeSelectorTerms } };
}
