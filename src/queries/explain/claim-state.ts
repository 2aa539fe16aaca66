import { matchClaim } from '../../engine/claim-match.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { truncatedList } from '../../engine/explain/truncated-list.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { ClassRecord } from '../../engine/records/class-record.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { ObjectMeta } from '../../kube/api/meta.ts';
import { csiDriverForProvisioner } from '../../kube/legacy/in-tree-migration.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { isUnread } from '../view/unread-kinds.ts';
import type { ClaimState } from './explanation.ts';

/** The state of a claim on its way to a volume. */
export interface ClaimStanding {
  readonly state: ClaimState;
  /** The predicate of a sentence that begins with "Claim x". */
  readonly says: string;
  /** The next step, and the component that makes it. */
  readonly waitsFor: string | undefined;
}

/** Tests the states in the order in which Kubernetes' own controllers do. `users`: pods that use the claim and have not finished. */
export function claimStanding(
  claim: ClaimRecord,
  index: ClusterIndex,
  users: readonly PodRecord[],
  view: ClusterView,
): ClaimStanding {
  return (
    inTrouble(claim) ??
    named(claim, index) ??
    (claim.className === '' ? classless(claim, index, view) : byClass(claim, index, users, view))
  );
}

function standing(state: ClaimState, says: string, waitsFor?: string): ClaimStanding {
  return { state, says, waitsFor };
}

function inTrouble(claim: ClaimRecord): ClaimStanding | undefined {
  if (claim.isLost)
    return standing(
      'Lost',
      'has lost its volume',
      'restore the PersistentVolume, or delete the claim and restore its data',
    );
  if (claim.isDeleting && !claim.isBound)
    return standing('Deleting', 'is being deleted', 'it goes when no pod uses it any more');
  if (!claim.isUsable) return standing('Malformed', 'cannot be read', `correct ${claim.problems.join('; ')}`);
  if (claim.isRollingBack)
    return standing(
      'RollingBack',
      'is having its binding undone',
      'the scheduler finishes that before it plans again',
    );
  return undefined;
}

/** The claim has a volume, names one, or a volume names it. */
function named(claim: ClaimRecord, index: ClusterIndex): ClaimStanding | undefined {
  const { volumeName } = claim;
  const volume = index.volumes.get(volumeName);
  if (claim.isBound)
    return volume === undefined
      ? standing(
          'Lost',
          `is bound to ${volumeName}, which does not exist`,
          'restore the PersistentVolume, or delete the claim and restore its data',
        )
      : standing('Bound', 'is bound');
  if (volumeName !== '') {
    if (volume === undefined)
      return standing(
        'WaitsForNamedVolume',
        `names volume ${volumeName}`,
        'no such PersistentVolume exists; create it, or name none',
      );
    const isTaken = volume.claim !== undefined && volume.claim.claimKey !== claim.key;
    return isTaken
      ? standing(
          'WaitsForNamedVolume',
          `names volume ${volumeName}`,
          `that volume is claimed by ${volume.claim.claimKey}`,
        )
      : standing('WaitsForBinding', `names volume ${volumeName}`, 'the PV controller binds the two');
  }
  const reserved = matchClaim(index, claim, true);
  return (
    reserved &&
    standing(
      'WaitsForBinding',
      `has volume ${reserved.key} reserved for it`,
      'the PV controller binds the two',
    )
  );
}

function classless(claim: ClaimRecord, index: ClusterIndex, view: ClusterView): ClaimStanding {
  const choice = classChoice(claim, view);
  if (choice.kind !== 'none' && matchClaim(index, claim, false) === undefined) {
    return choice.kind === 'default'
      ? standing(
          'WaitsForBinding',
          'names no class',
          `the PV controller gives it class ${choice.name}, which is the default`,
        )
      : standing('NoDefaultClass', `names no class, and ${choice.absence}`, noDefaultRemedy(index));
  }
  return waitsForVolume(claim, index, 'asks for no class', 'a PersistentVolume without a class that fits');
}

function waitsForVolume(claim: ClaimRecord, index: ClusterIndex, says: string, what: string): ClaimStanding {
  const match = matchClaim(index, claim, false);
  return match === undefined
    ? standing('WaitsForVolume', says, `it waits for ${what}, and there is none`)
    : standing('WaitsForBinding', says, `${match.key} fits; the PV controller binds the two`);
}

type ClassChoice =
  /** The claim asks for volumes without a class: `storageClassName: ""`. */
  | { readonly kind: 'none' }
  /** The claim leaves the class out, and Kubernetes gives it this one. */
  | { readonly kind: 'default'; readonly name: string }
  /** The claim leaves the class out, and there is no default. */
  | { readonly kind: 'missing'; readonly absence: string };

function classChoice({ key }: ClaimRecord, view: ClusterView): ClassChoice {
  const spec = view.snapshot.get('PersistentVolumeClaim', key)?.spec;
  const isLeftOut = spec !== undefined && (spec.storageClassName ?? undefined) === undefined;
  if (!isLeftOut || isUnread(view, 'StorageClass')) return { kind: 'none' };
  const marked = [...view.snapshot.values('StorageClass')].filter(
    ({ metadata }) =>
      metadata?.annotations?.[annotations.isDefaultClass] === 'true' ||
      metadata?.annotations?.[annotations.betaIsDefaultClass] === 'true',
  );
  // Kubernetes takes the newest of several.
  const newest = marked.toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))[0];
  return newest === undefined
    ? { kind: 'missing', absence: 'no StorageClass is marked as the default' }
    : { kind: 'default', name: newest.metadata?.name ?? '' };
}

function createdAt({ metadata }: { readonly metadata?: ObjectMeta }): string {
  return String(metadata?.creationTimestamp ?? '');
}

const classesShownMax = 3;

/** The remedy for a claim without a class if no class is the default. */
export function noDefaultRemedy({ classes }: ClusterIndex): string {
  const names = [...classes.keys()].sort();
  const [example = 'NAME'] = names;
  const existing =
    names.length === 0 ? '' : ` (${truncatedList(names.slice(0, classesShownMax), names.length)})`;
  return (
    `recreate the claim with spec.storageClassName${existing}, mark a class as the default ` +
    `(kubectl annotate storageclass ${example} ${annotations.isDefaultClass}=true), or create a PersistentVolume without a class that fits`
  );
}

function byClass(
  claim: ClaimRecord,
  index: ClusterIndex,
  users: readonly PodRecord[],
  view: ClusterView,
): ClaimStanding {
  const { className } = claim;
  const storageClass = index.classes.get(className);
  if (storageClass === undefined) {
    const match = matchClaim(index, claim, false);
    return match === undefined
      ? standing(
          'ClassMissing',
          `asks for class ${className}`,
          'no such StorageClass exists, nor a free PersistentVolume of that class; create one of them',
        )
      : standing(
          'WaitsForBinding',
          `asks for class ${className}`,
          `${match.key} fits; the PV controller binds the two`,
        );
  }
  const { provisioner } = storageClass;
  const onDrives = withoutDrive(claim, index, storageClass);
  if (onDrives !== undefined) return onDrives;
  if (!storageClass.isDelayed) {
    const says = `asks for class ${className}, which binds at once`;
    return storageClass.canProvision && matchClaim(index, claim, false) === undefined
      ? standing(
          'WaitsForProvisioner',
          says,
          isWithoutDriver(provisioner, view)
            ? `provisioner ${provisioner} has to create its volume, and there is no CSIDriver ${provisioner}: if it is a CSI driver, it is not installed; ` +
                'install it, or recreate the claim with another class'
            : `provisioner ${provisioner} makes its volume; see the claim's events if it does not`,
        )
      : waitsForVolume(claim, index, says, `a PersistentVolume of class ${className} that fits`);
  }
  return delayed(claim, users, storageClass.canProvision ? provisioner : undefined);
}

/** Why no provisioner can create the volume of a claim on local drives: its class is invalid, or no drive is of the kind that the class asks for. */
function withoutDrive(
  claim: ClaimRecord,
  index: ClusterIndex,
  { driveClass, driveClassProblem, isDelayed }: ClassRecord,
): ClaimStanding | undefined {
  const { className } = claim;
  if (driveClass === undefined && driveClassProblem === undefined) return undefined;
  if (matchClaim(index, claim, false) !== undefined) return undefined;
  if (driveClassProblem !== undefined)
    return standing(
      'ClassInvalid',
      `asks for class ${className}, which is invalid`,
      `${driveClassProblem}; parameters cannot change: delete the class, and create it again`,
    );
  // A pod that uses the claim says on which node which drive is missing.
  if (isDelayed || !index.pools.hasDrives || index.pools.driveEntry(driveClass!).rows.length > 0)
    return undefined;
  const { tier, labels } = driveClass!;
  const asked = [
    ...(tier === undefined ? [] : [`access tier ${tier}`]),
    ...Object.entries(labels).map(([key, value]) => `label ${key}=${value}`),
  ];
  return standing(
    'WaitsForDrive',
    `asks for class ${className}, which binds at once`,
    `no drive has ${asked.join(' and ')}; add such a drive, or change one with stowage drives tier or stowage drives label`,
  );
}

/** The claim waits until a pod that uses it has a node. */
function delayed(
  { className, selectedNode }: ClaimRecord,
  users: readonly PodRecord[],
  provisioner: string | undefined,
): ClaimStanding {
  const says = `asks for class ${className}, which waits for a pod`;
  if (selectedNode !== '' && provisioner !== undefined)
    return standing(
      'WaitsForProvisioner',
      says,
      `provisioner ${provisioner} makes its volume for node ${selectedNode}; see the claim's events if it does not`,
    );
  if (users.length === 0) return standing('WaitsForPod', says, 'no pod uses it yet');
  const names = users.slice(0, 3).map(({ key }) => key);
  return standing(
    'WaitsForScheduler',
    says,
    `${truncatedList(names, users.length)} ${users.length === 1 ? 'uses' : 'use'} it, and the scheduler chooses for both`,
  );
}

/** Whether no CSIDriver of this name is installed, and the provisioner is not one of Stowage's own, which have no CSI driver. */
export function isWithoutDriver(provisioner: string, view: ClusterView): boolean {
  if (provisioner.endsWith('.stowage.dev') || isUnread(view, 'CSIDriver')) return false;
  const names = [provisioner, csiDriverForProvisioner(provisioner)];
  return names.every((name) => name === undefined || view.snapshot.get('CSIDriver', name) === undefined);
}
