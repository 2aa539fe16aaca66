import type { StorageClass } from '../../kube/api/storage.ts';
import type { CompiledNodeSelector } from '../../kube/selectors/node-selector.ts';
import { compileTopologySelector } from '../../kube/selectors/topology-selector.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { disksDriver } from '../../kube/stowage/volume.ts';
import { canProvision, isDelayedBinding } from '../../kube/volumes.ts';
import { labels } from '../../kube/well-known.ts';
import { isRecord, textOf } from '../../kube/wire.ts';
import { readDiskClass } from '../disks/disk-class.ts';
import { type DriveClass, readDriveClass } from '../drives/class-parameters.ts';
import { type BackingPool, backingPoolOf } from './backing-pool.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import { everyNode, matcherOfSelector, type NodeMatcher } from './node-matcher.ts';
import { readVolumePolicy, type VolumePolicy } from './volume-policy.ts';
import type { ReadContext } from './volume-record.ts';

/** The fields of a StorageClass that the engine uses. */
export interface ClassRecord extends Identity {
  readonly provisioner: string;
  readonly canProvision: boolean;
  /** WaitForFirstConsumer: the scheduler chooses the volume. */
  readonly isDelayed: boolean;
  /** False if the field is missing. A real API server always sets it. */
  readonly hasBindingMode: boolean;
  readonly allowedNodes: NodeMatcher;
  readonly policy: VolumePolicy;
  /** The disks that the class shares with others; undefined if it says nothing about that. */
  readonly backing: BackingPool | undefined;
  /** The drives that a class of `drives.stowage.dev` selects; undefined for other classes, and if its parameters are invalid. */
  readonly driveClass: DriveClass | undefined;
  /** The error in the parameters of a class of `drives.stowage.dev`: no volume of it can be created. Undefined if they are valid. */
  readonly driveClassProblem: string | undefined;
  /** Whether the class is one of `disks.stowage.dev` whose parameters are invalid: it has no capacity reports, and its provisioner says what is wrong. */
  readonly hasInvalidDiskClass: boolean;
  readonly problems: readonly string[];
}

export function readClass(
  storageClass: StorageClass,
  { interner, honourZoneParameters }: Pick<ReadContext, 'interner' | 'honourZoneParameters'>,
): ClassRecord {
  const allowed =
    compileTopologySelector(storageClass.allowedTopologies) ??
    (honourZoneParameters ? zoneSelector(storageClass) : undefined);
  const { key, uid, version, isDeleting } = clusterIdentity(storageClass);
  const problems = [...(allowed?.problems ?? [])];
  return {
    key,
    uid,
    version,
    isDeleting,
    provisioner: interner.text(textOf(storageClass.provisioner)),
    canProvision: canProvision(storageClass),
    isDelayed: isDelayedBinding(storageClass),
    hasBindingMode: textOf(storageClass.volumeBindingMode) !== '',
    allowedNodes: interner.matcher(allowed === undefined ? everyNode : matcherOfSelector(allowed)),
    policy: readVolumePolicy(storageClass.metadata?.annotations, problems),
    backing: backingPoolOf(storageClass, problems),
    ...driveClassOf(storageClass, problems),
    hasInvalidDiskClass: hasInvalidDiskClass(storageClass, problems),
    problems,
  };
}

function driveClassOf(
  { provisioner, parameters }: StorageClass,
  problems: string[],
): Pick<ClassRecord, 'driveClass' | 'driveClassProblem'> {
  if (textOf(provisioner) !== drivesDriver) return { driveClass: undefined, driveClassProblem: undefined };
  const read = readDriveClass(textsOf(parameters));
  if (read.ok) return { driveClass: read.value, driveClassProblem: undefined };
  problems.push(`parameters: ${read.problem}`);
  return { driveClass: undefined, driveClassProblem: read.problem };
}

function hasInvalidDiskClass({ provisioner, parameters }: StorageClass, problems: string[]): boolean {
  if (textOf(provisioner) !== disksDriver) return false;
  const read = readDiskClass(textsOf(parameters));
  if (!read.ok) problems.push(`parameters: ${read.problem}`);
  return !read.ok;
}

function textsOf(parameters: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(isRecord(parameters) ? parameters : {});
  return Object.fromEntries(entries.map(([key, value]) => [key, textOf(value)]));
}

/** Provisioners whose classes name their zones in the parameters `zone` and `zones`, from before `allowedTopologies` existed. */
const zonalProvisioners: ReadonlySet<string> = new Set([
  'zonal.stowage.dev',
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/gce-pd',
]);

/** The nodes of these zones; undefined if the class names none. */
function zoneSelector({ provisioner, parameters }: StorageClass): CompiledNodeSelector | undefined {
  if (!zonalProvisioners.has(textOf(provisioner)) || !isRecord(parameters)) return undefined;
  const text = textOf(parameters.zones) || textOf(parameters.zone);
  const values = text.split(',').flatMap((part) => part.trim() || []);
  if (values.length === 0) return undefined;
  const terms = [labels.zone, labels.betaZone].map((key) => ({ matchLabelExpressions: [{ key, values }] }));
  return compileTopologySelector(terms);
}
