import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { DriveObjects } from '../../../queries/drives/drive-objects.ts';
import { volumeLines } from '../../../queries/drives/volume-lines.ts';
import { adviceFor } from './claim-advice.ts';
import type { ForgetTarget } from './forget-target.ts';

/** The lost drives and volumes. `forget` acts on nothing else. */
export interface ForgetList extends ForgetTarget {
  readonly drives: readonly ForgottenDrive[];
}

export interface ForgottenDrive {
  readonly name: string;
  readonly uid: string;
  readonly volumes: readonly ForgottenVolume[];
}

export interface ForgottenVolume {
  readonly name: string;
  readonly sizeBytes: number;
  readonly owner?: string | undefined;
  readonly advice: string;
  readonly claim?: ForgottenObject | undefined;
  readonly persistentVolume?: ForgottenObject | undefined;
}

/** An object of Kubernetes that is deleted only if a person asked for it in the file. */
export interface ForgottenObject {
  /** `NAMESPACE/NAME` of a claim. */
  readonly name: string;
  readonly uid: string;
  readonly isDeleted: boolean;
}

/** Lists what is lost. No PersistentVolume and no claim is marked for deletion. */
export function forgetListOf(
  target: ForgetTarget,
  objects: DriveObjects,
  statefulSets: readonly StatefulSet[],
): ForgetList {
  const drives = objects.drives.filter(
    ({ metadata, spec }) =>
      spec?.nodeName === target.node && (target.drive === undefined || metadata?.name === target.drive),
  );
  const lines = volumeLines({ ...objects, drives });
  const uids = new Map(objects.volumes?.map(({ metadata }) => [metadata?.name, metadata?.uid]));
  const claimed = new Map((objects.claims ?? []).map((claim) => [keyOf(claim), claim.metadata?.uid ?? '']));
  const people = { statefulSets, pods: objects.pods ?? [] };
  return {
    ...target,
    drives: drives.map(({ metadata }) => ({
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      volumes: lines
        .filter(({ drive }) => drive === metadata?.name)
        .map(({ volume, sizeBytes, claim = '', persistentVolume = '' }) => ({
          name: volume,
          sizeBytes,
          ...(claimed.has(claim)
            ? adviceFor(claim, people)
            : { advice: adviceWithoutClaim(persistentVolume) }),
          claim: objectOf(claim, claimed.get(claim)),
          persistentVolume: objectOf(persistentVolume, uids.get(persistentVolume)),
        })),
    })),
  };
}

function adviceWithoutClaim(persistentVolume: string): string {
  return persistentVolume === ''
    ? 'nothing uses it any more'
    : `no claim uses it; delete PersistentVolume ${persistentVolume}`;
}

function objectOf(name: string, uid: string | undefined): ForgottenObject | undefined {
  return name === '' || uid === undefined ? undefined : { name, uid, isDeleted: false };
}

function keyOf({ metadata }: PersistentVolumeClaim): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
