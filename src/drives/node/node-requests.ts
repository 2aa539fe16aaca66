import { CsiStatusError } from '../../csi/csi-errors.ts';
import { type VolumeCapability, VolumeCapability_AccessMode_Mode } from '../../csi/generated/csi.ts';
import { type DriveClass, readDriveClass } from '../../engine/drives/class-parameters.ts';
import { parseQuantity, quantityToSafeBytes } from '../../kube/quantities/quantity.ts';
import type { DriveUser } from '../../kube/stowage/drive.ts';
import { lookUp } from '../../kube/wire.ts';
import { capabilityProblem } from '../controller/volume-capabilities.ts';
import { checkVolumeName, UnsafePathError } from '../host/safe-paths.ts';

const { SINGLE_NODE_READER_ONLY } = VolumeCapability_AccessMode_Mode;

/** Mount options that a bind mount can have of its own. The filesystem's options are the same for all volumes on a drive. */
const mountFlags: ReadonlySet<string> = new Set([
  'ro',
  'nosuid',
  'nodev',
  'noexec',
  'noatime',
  'nodiratime',
  'relatime',
]);
/** Mount options that every mount has already. */
const defaultFlags: ReadonlySet<string> = new Set(['rw', 'defaults', 'noatime']);

/** Throws InvalidArgument for an id that cannot be a volume's. */
export function checkVolumeId(volumeId: string): void {
  try {
    checkVolumeName(volumeId);
  } catch (error) {
    if (error instanceof UnsafePathError)
      throw new CsiStatusError('InvalidArgument', error.message, { cause: error });
    throw error;
  }
}

/** The mount options that a capability asks for. Throws InvalidArgument for what a volume on a drive cannot do. */
export function mountOptions(
  capability: VolumeCapability | undefined,
  isReadOnly: boolean,
): readonly string[] {
  const problem = capability === undefined ? undefined : capabilityProblem([capability]);
  if (problem !== undefined) throw invalid(problem);
  const flags = capability?.accessType.case === 'mount' ? capability.accessType.value.mountFlags : [];
  const options = new Set<string>();
  for (const flag of flags) {
    if (!mountFlags.has(flag) && !defaultFlags.has(flag))
      throw invalid(`the mount option ${JSON.stringify(flag)} must be one of ${[...mountFlags].join(', ')}`);
    if (!defaultFlags.has(flag)) options.add(flag);
  }
  if (isReadOnly || capability?.accessMode?.mode === SINGLE_NODE_READER_ONLY) options.add('ro');
  return [...options];
}

/** An inline volume, as the kubelet describes it. */
export interface InlineVolumeRequest {
  readonly sizeBytes: number;
  readonly driveClass: DriveClass;
  readonly pod: DriveUser;
}

const contextPrefix = 'csi.storage.k8s.io/';

/** Undefined if the request is for a PersistentVolume. */
export function readInlineVolume(context: Readonly<Record<string, string>>): InlineVolumeRequest | undefined {
  if (lookUp(context, `${contextPrefix}ephemeral`) !== 'true') return undefined;
  const { size, ...attributes } = context;
  const driveClass = readDriveClass(attributes);
  if (!driveClass.ok) throw invalid(driveClass.problem.replace(/^parameter /, 'volumeAttributes: '));
  return {
    sizeBytes: sizeOf(lookUp(context, `${contextPrefix}size`) ?? size),
    driveClass: driveClass.value,
    pod: podOf(context),
  };
}

function sizeOf(text: string | undefined): number {
  if (text === undefined)
    throw invalid('volumeAttributes: size is required for an inline volume, such as size: 10Gi');
  const quantity = parseQuantity(text, 'volumeAttributes.size');
  const bytes = quantity.ok ? quantityToSafeBytes(quantity.quantity) : undefined;
  if (bytes === undefined || bytes < 1)
    throw invalid(`volumeAttributes: size ${JSON.stringify(text)} must be a quantity of bytes, such as 10Gi`);
  return bytes;
}

function podOf(context: Readonly<Record<string, string>>): DriveUser {
  const [namespace, name, uid] = ['pod.namespace', 'pod.name', 'pod.uid'].map((key) =>
    lookUp(context, `${contextPrefix}${key}`),
  );
  if (!namespace || !name)
    throw invalid(
      'the request does not name the pod; set podInfoOnMount in the CSIDriver drives.stowage.dev',
    );
  return { namespace, name, ...(uid && { uid }) };
}

function invalid(problem: string): CsiStatusError {
  return new CsiStatusError('InvalidArgument', problem);
}
