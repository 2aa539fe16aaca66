import { intentFinalizer } from '../../controllers/provisioner/intent.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantities/quantity.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import type { Invariant } from './invariant.ts';

/** A volume that was created for a claim which has chosen another one is released as well. */
export const volumesAreReleasedAfterTheirClaims: Invariant = {
  name: 'a volume is released only when its claim is gone, or has another volume',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumes' || after === undefined) return undefined;
    const { spec, status } = after as PersistentVolume;
    const wasReleased = (before as PersistentVolume | undefined)?.status?.phase === 'Released';
    if (wasReleased || status?.phase !== 'Released') return undefined;
    const claim = state.get(persistentVolumeClaims, `${spec?.claimRef?.namespace}/${spec?.claimRef?.name}`);
    const { volumeName = '' } = claim?.spec ?? {};
    const isOwn = claim !== undefined && claim.metadata?.uid === spec?.claimRef?.uid;
    if (!isOwn || (volumeName !== '' && volumeName !== key)) return undefined;
    return `volume ${key} is released, and claim ${spec?.claimRef?.name} exists`;
  },
};

/**
 * The class may differ: people may reserve a volume of another class for a claim. A claim that has lost its volume keeps the name: if
 * people create another volume under it, the PV controller takes that one, whatever its size, as in Kubernetes.
 */
export const boundVolumesAreLargeEnough: Invariant = {
  name: 'a claim that becomes Bound has a volume that is large enough',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumeclaims' || after === undefined) return undefined;
    const { spec, status } = after as PersistentVolumeClaim;
    const { phase } = (before as PersistentVolumeClaim | undefined)?.status ?? {};
    const volume = state.get(persistentVolumes, spec?.volumeName ?? '');
    if (phase === 'Bound' || phase === 'Lost' || status?.phase !== 'Bound' || volume === undefined)
      return undefined;
    const requested = String(spec?.resources?.requests?.storage ?? '0');
    const size = String(volume.spec?.capacity?.storage ?? '0');
    return isLess(size, requested)
      ? `claim ${key} asks for ${requested}, and its volume has ${size}`
      : undefined;
  },
};

/** Marks on claims that controllers write for the time of a work in progress. */
export const claimsHaveNoMarksAtRest: Invariant = {
  name: 'when the system is at rest, no claim is being provisioned or rolled back',
  atRest: (state) =>
    [...state.values(persistentVolumeClaims)].flatMap(({ metadata }) => {
      const isRollingBack = metadata?.annotations?.[annotations.rollback] !== undefined;
      const isProvisioning = (metadata?.finalizers ?? []).includes(intentFinalizer);
      return [
        ...(isRollingBack ? [`claim ${metadata?.name} is being rolled back`] : []),
        ...(isProvisioning ? [`claim ${metadata?.name} is being provisioned`] : []),
      ];
    }),
};

/** The PersistentVolume says where the volume of the driver is. */
export const volumesAreWhereTheyShouldBe: Invariant = {
  name: 'the node of a PersistentVolume is the node of its volume',
  atRest: (state, { driverVolumes }) =>
    [...state.values(persistentVolumes)].flatMap(({ metadata, spec }) => {
      const stored = spec?.csi?.volumeAttributes?.node;
      const actual = driverVolumes.get(metadata?.name ?? '')?.node;
      if (stored === undefined || actual === undefined || stored === actual) return [];
      return [`volume ${metadata?.name} is on ${actual}, and its PersistentVolume names ${stored}`];
    }),
};

function isLess(size: string, requested: string): boolean {
  const [left, right] = [parseQuantity(size), parseQuantity(requested)];
  return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) < 0;
}
