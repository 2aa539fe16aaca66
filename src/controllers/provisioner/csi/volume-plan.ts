import type { Cluster } from '../../../cluster/cluster.ts';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import { type VolumeCapabilityInit, volumeCapability } from '../../../csi/volume-capability.ts';
import { readVolumePolicy } from '../../../engine/records/volume-policy.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { ObjectMeta, StringMap } from '../../../kube/api/meta.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { bytesOf } from '../../../kube/quantities/bytes.ts';
import { volumeAttributesClasses } from '../../../kube/resources.ts';
import { driveNameKey, drivesDriver } from '../../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import { textOf } from '../../../kube/wire.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import {
  type ProvisionRequest,
  type RefusedOutcome,
  refusedOutcome,
  type VolumePlan,
} from '../provisioner.ts';
import { readClassParameters } from './class-parameters.ts';
import type { ContentSource } from './content-question.ts';
import { contentSourceOf, volumeContentSource } from './content-source.ts';
import { type SecretReferences, secretReferences } from './secret-references.ts';
import { recordedDrive, type topologyRequirement } from './topology-requirement.ts';

/** The arguments of CreateVolume, without secrets: those are read for each call, since they may be changed. */
export interface CreateArguments {
  readonly name: string;
  readonly capacityRange: { readonly requiredBytes: bigint };
  readonly volumeCapabilities: VolumeCapabilityInit[];
  readonly parameters: Record<string, string>;
  readonly mutableParameters: Record<string, string>;
  readonly volumeContentSource?: NonNullable<ReturnType<typeof volumeContentSource>>;
  readonly accessibilityRequirements?: NonNullable<ReturnType<typeof topologyRequirement>>;
}

/** The parts of the request that no repetition may change, and what the PersistentVolume needs of them. */
export interface CsiVolumePlan extends VolumePlan {
  readonly request: CreateArguments;
  readonly claim: PersistentVolumeClaim;
  /** Whether the scheduler chose a node, and could choose another. */
  readonly hasNode: boolean;
  /** Whether an earlier process may have sent it. */
  readonly isRepetition: boolean;
  readonly content: ContentSource;
  readonly fsType: string;
  readonly secrets: SecretReferences;
  readonly attributesClassName: string | undefined;
}

export interface CsiPlanOptions {
  readonly driver: ServedCsiDriver;
  readonly cluster: Cluster;
  readonly defaultFsType: string;
  readonly extraCreateMetadata: boolean;
}

type Planned = { readonly kind: 'planned'; readonly plan: CsiVolumePlan } | RefusedOutcome;

/** Everything of CreateVolume except `accessibility_requirements` and secrets. Reads objects, and writes nothing. */
export async function planCsiVolume(
  request: ProvisionRequest,
  options: CsiPlanOptions,
  signal: AbortSignal,
): Promise<Planned> {
  const { asset, claim, storageClass } = request;
  const { driver, cluster, defaultFsType } = options;
  const unsupported = refuseUnsupportedClaim(claim, driver);
  if (unsupported !== undefined) return unsupported;
  const parameters = readClassParameters(storageClass.parameters);
  if (parameters.kind === 'refused') return parameters;
  const fsType = parameters.fsType ?? defaultFsType;
  const requestedBytes = bytesOf(claim.spec?.resources?.requests?.storage);
  const content = await contentSourceOf({ cluster, driver, claim, requestedBytes }, signal);
  if (content.kind === 'refused') return content;
  const mutable = await mutableParametersOf(claim, driver, cluster, signal);
  if (mutable.kind === 'refused') return mutable;
  try {
    const secrets = secretReferences(parameters.secrets, claim, asset.name);
    const volumeContent = volumeContentSource(content);
    const createRequest: CreateArguments = {
      name: asset.name,
      capacityRange: { requiredBytes: requestedBytes },
      volumeCapabilities: capabilitiesOf(request, fsType, driver),
      parameters: { ...parameters.forDriver, ...metadataOf(request, options), ...driveOf(request, driver) },
      mutableParameters: { ...mutable.parameters },
      ...(volumeContent === undefined ? {} : { volumeContentSource: volumeContent }),
    };
    const hasNode = request.selectedNode !== undefined;
    const isRepetition = asset.record !== undefined;
    const own = { request: createRequest, claim, hasNode, isRepetition, content, fsType, secrets };
    const attributesClassName = mutable.className;
    const source = { csi: { driver: driver.name, volumeHandle: '' } };
    return { kind: 'planned', plan: { asset, source, ...own, attributesClassName } };
  } catch (error) {
    // Access modes that CSI does not have, or a template that cannot be resolved.
    return refusedOutcome(messageOf(error), 'change');
  }
}

function refuseUnsupportedClaim(
  claim: PersistentVolumeClaim,
  driver: ServedCsiDriver,
): RefusedOutcome | undefined {
  if (!driver.hasControllerCapability('CREATE_DELETE_VOLUME'))
    return refusedOutcome(`CSI driver ${driver.name} cannot create volumes`, 'change');
  if ((claim.spec?.selector ?? undefined) !== undefined)
    return refusedOutcome(
      'claim.spec.selector is not supported for dynamic provisioning; remove it',
      'change',
    );
  return undefined;
}

/** One for each access mode, as drivers get it from external-provisioner. */
function capabilitiesOf({ claim, storageClass }: ProvisionRequest, fsType: string, driver: ServedCsiDriver) {
  const { mountOptions = [] } = storageClass;
  const volumeMode = volumeModeOf(claim);
  return (claim.spec?.accessModes ?? []).map((mode) =>
    volumeCapability({ accessModes: [mode], mountOptions, volumeMode, fsType }, driver),
  );
}

function metadataOf({ asset, claim }: ProvisionRequest, { extraCreateMetadata }: CsiPlanOptions): StringMap {
  if (!extraCreateMetadata) return {};
  const { namespace = '', name = '' } = claim.metadata ?? {};
  return {
    'csi.storage.k8s.io/pvc/name': name,
    'csi.storage.k8s.io/pvc/namespace': namespace,
    'csi.storage.k8s.io/pv/name': asset.name,
  };
}

/**
 * The drive that the scheduler chose, the uid of the claim for the drive's ledger, and the policy for other drives. Other drivers get neither. A repetition names the drive
 * of the first call, whatever the claim says by now.
 */
function driveOf(
  { asset, claim: { metadata }, storageClass }: ProvisionRequest,
  { name }: ServedCsiDriver,
): StringMap {
  if (name !== drivesDriver) return {};
  const drive =
    asset.record === undefined
      ? textOf(metadata?.annotations?.[annotations.drive])
      : (recordedDrive(asset.record) ?? '');
  return {
    'csi.storage.k8s.io/pvc/uid': textOf(metadata?.uid),
    ...(drive === '' ? {} : { [driveNameKey]: drive }),
    ...drivePolicyOf(storageClass, metadata),
  };
}

/** The annotations of class and claim that select the drive, under the same keys. The driver checks them again when it chooses a drive itself. */
function drivePolicyOf(storageClass: StorageClass, claim: ObjectMeta | undefined): StringMap {
  const policies = [storageClass.metadata, claim].map((metadata) =>
    readVolumePolicy(metadata?.annotations, []),
  );
  const percent = Math.max(...policies.map(({ growthReservePercent }) => growthReservePercent));
  return {
    ...(percent > 0 && { [annotations.growthReserve]: `${percent}%` }),
    ...(policies.some(({ apart }) => apart.has('drives')) && { [annotations.volumeAntiAffinity]: 'drives' }),
  };
}

/** The parameters of the claim's VolumeAttributesClass, where the driver can modify volumes. */
async function mutableParametersOf(
  claim: PersistentVolumeClaim,
  driver: ServedCsiDriver,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<
  | { readonly kind: 'read'; readonly parameters: StringMap; readonly className: string | undefined }
  | RefusedOutcome
> {
  const name = textOf(claim.spec?.volumeAttributesClassName);
  if (name === '') return { kind: 'read', parameters: {}, className: undefined };
  if (!driver.hasControllerCapability('MODIFY_VOLUME'))
    return refusedOutcome(
      `CSI driver ${driver.name} has no mutable parameters; remove spec.volumeAttributesClassName`,
      'change',
    );
  const found = await undefinedIfNotFound(
    cluster.resource(volumeAttributesClasses).get({ name }, { signal }),
  );
  if (found === undefined)
    return refusedOutcome(`volumeattributesclass.storage.k8s.io "${name}" not found`, 'retry');
  if (found.driverName !== driver.name)
    return refusedOutcome(
      `VolumeAttributesClass "${name}" is for ${found.driverName}, not ${driver.name}`,
      'change',
    );
  return { kind: 'read', parameters: found.parameters ?? {}, className: name };
}
