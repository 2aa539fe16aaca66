import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { CapacityRange, CreateVolumeRequest, Topology } from '../../csi/generated/csi.ts';
import type { DriveClass } from '../../engine/drives/class-parameters.ts';
import { readDriveClass } from '../../engine/drives/class-parameters.ts';
import type { TopologyTerm } from '../../engine/drives/drive-requirements.ts';
import { readVolumePolicy, type VolumePolicy } from '../../engine/records/volume-policy.ts';
import { type DriveUser, driveNameKey } from '../../kube/stowage/drive.ts';
import { lookUp } from '../../kube/wire.ts';
import { capabilityProblem } from './volume-capabilities.ts';

/** The largest size of an entry: sums of sizes must be exact in every program. */
const sizeBytesMax = BigInt(Number.MAX_SAFE_INTEGER);

/** A CreateVolume call, checked. */
export interface DriveVolumeRequest {
  readonly name: string;
  readonly size: SizeRange;
  readonly driveClass: DriveClass;
  readonly preferred: readonly TopologyTerm[];
  readonly requisite: readonly TopologyTerm[];
  readonly chosenDrive: string | undefined;
  readonly policy: VolumePolicy;
  readonly claim: DriveUser | undefined;
}

/** Undefined: not asked for. */
export interface SizeRange {
  readonly requiredBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

/** Throws a `CsiStatusError` with one sentence for a request that no drive can fulfil. */
export function readDriveVolumeRequest(request: CreateVolumeRequest): DriveVolumeRequest {
  const { name, parameters, accessibilityRequirements } = request;
  checkName(name);
  const problem = capabilityProblem(request.volumeCapabilities);
  if (problem !== undefined) throw invalid(problem);
  if (request.volumeContentSource !== undefined)
    throw invalid('volumes on drives cannot be copied from a snapshot or volume; leave out the data source');
  if (Object.keys(request.mutableParameters).length > 0)
    throw invalid('volumes on drives have no mutable parameters; leave out the VolumeAttributesClass');
  const driveClass = readDriveClass(parameters);
  if (!driveClass.ok) throw invalid(driveClass.problem);
  const problems: string[] = [];
  const policy = readVolumePolicy(parameters, problems);
  if (problems.length > 0) throw invalid(problems[0]!.replace('metadata.annotations', 'parameters'));
  return {
    name,
    size: readSizeRange(request.capacityRange),
    driveClass: driveClass.value,
    preferred: termsOf(accessibilityRequirements?.preferred),
    requisite: termsOf(accessibilityRequirements?.requisite),
    chosenDrive: lookUp(parameters, driveNameKey),
    policy,
    claim: claimOf(parameters),
  };
}

/** Sizes above what a ledger can hold exist nowhere, so they are out of range. */
export function readSizeRange(range: CapacityRange | undefined): SizeRange {
  const { requiredBytes = 0n, limitBytes = 0n } = range ?? {};
  if (requiredBytes > sizeBytesMax)
    throw new CsiStatusError(
      'OutOfRange',
      `${requiredBytes} bytes were asked; a volume has at most ${sizeBytesMax}`,
    );
  return {
    requiredBytes: requiredBytes === 0n ? undefined : Number(requiredBytes),
    limitBytes: limitBytes === 0n ? undefined : Math.min(Number(limitBytes), Number.MAX_SAFE_INTEGER),
  };
}

/** A name becomes the name of a directory in a later step, and a key of the ledger now. */
function checkName(name: string): void {
  if (/^\.{1,2}$|[/\p{Cc}]/u.test(name))
    throw invalid(`name: ${JSON.stringify(name)} must contain neither / nor control characters`);
}

function termsOf(topologies: readonly Topology[] = []): readonly TopologyTerm[] {
  return topologies.map(({ segments }) => segments);
}

const claimKeys = {
  namespace: { key: 'csi.storage.k8s.io/pvc/namespace', lengthMax: 63 },
  name: { key: 'csi.storage.k8s.io/pvc/name', lengthMax: 253 },
  uid: { key: 'csi.storage.k8s.io/pvc/uid', lengthMax: 128 },
};

/** The claim that a provisioner names. */
function claimOf(parameters: Readonly<Record<string, string>>): DriveUser | undefined {
  for (const { key, lengthMax } of Object.values(claimKeys))
    if ((lookUp(parameters, key)?.length ?? 0) > lengthMax)
      throw invalid(`parameter ${key}: has more than ${lengthMax} characters`);
  const namespace = lookUp(parameters, claimKeys.namespace.key);
  const name = lookUp(parameters, claimKeys.name.key);
  const uid = lookUp(parameters, claimKeys.uid.key);
  if (!namespace || !name) return undefined;
  return { namespace, name, ...(uid && { uid }) };
}

function invalid(problem: string): CsiStatusError {
  return new CsiStatusError('InvalidArgument', problem);
}
