import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

export const volumeServesOneClaim: Invariant = {
  name: 'a volume serves one claim',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumeclaims' || after === undefined) return undefined;
    const { spec, metadata } = after as PersistentVolumeClaim;
    const named = (before as PersistentVolumeClaim | undefined)?.spec?.volumeName;
    if (spec?.volumeName === undefined || spec.volumeName === '' || spec.volumeName === named)
      return undefined;
    for (const other of state.values(persistentVolumeClaims))
      if (other.spec?.volumeName === spec.volumeName && other.metadata?.uid !== metadata?.uid)
        return `claims ${key} and ${other.metadata?.name} both have volume ${spec.volumeName}`;
    return undefined;
  },
};

export const boundClaimsOwnTheirVolume: Invariant = {
  name: 'a claim that becomes Bound owns its volume',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumeclaims' || after === undefined) return undefined;
    const claim = after as PersistentVolumeClaim;
    const wasBound = (before as PersistentVolumeClaim | undefined)?.status?.phase === 'Bound';
    if (wasBound || claim.status?.phase !== 'Bound') return undefined;
    const volume = state.get(persistentVolumes, claim.spec?.volumeName ?? '');
    if (volume === undefined)
      return `claim ${key} is Bound to ${claim.spec?.volumeName}, which does not exist`;
    if (volume.spec?.claimRef?.uid === claim.metadata?.uid) return undefined;
    return `claim ${key} is Bound to ${claim.spec?.volumeName}, which is reserved for ${volume.spec?.claimRef?.name ?? 'no claim'}`;
  },
};

/** People give a Released volume free by removing its claimRef; nothing ever moves it from one claim to another. */
export const claimRefsAreReplacedOnlyWhenReleased: Invariant = {
  name: 'the claimRef of a volume is not moved from one claim to another',
  onVersion: ({ resource, key, before, after }) => {
    if (resource !== 'persistentvolumes' || before === undefined || after === undefined) return undefined;
    const old = (before as PersistentVolume).spec?.claimRef;
    const current = (after as PersistentVolume).spec?.claimRef;
    if (old?.uid === undefined || current?.uid === undefined || old.uid === current.uid) return undefined;
    return `volume ${key} was reserved for ${old.name} and is now reserved for ${current.name}`;
  },
};

/** A volume whose claim may have been mounted keeps its claimRef, and is not removed, while the claim exists. */
export const volumesInUseStay: Invariant = {
  name: 'no volume that may hold data is released or deleted while its claim exists',
  onVersion: (version, state) => {
    if (version.resource !== 'persistentvolumes' || version.before === undefined) return undefined;
    const before = version.before as PersistentVolume;
    const claim = mountedClaimOf(before, state);
    if (claim === undefined) return undefined;
    const after = version.after as PersistentVolume | undefined;
    if (after === undefined)
      return `volume ${version.key} is removed, and claim ${claim} may have data on it`;
    if (after.spec?.claimRef?.uid === before.spec?.claimRef?.uid) return undefined;
    return `volume ${version.key} is released, and claim ${claim} may have data on it`;
  },
};

/** When everything is at rest, no volume is reserved for a claim that is gone or has another volume. */
export const reservationsEndWithTheirClaims: Invariant = {
  name: 'reservations end with their owners',
  atRest: (state) =>
    [...state.values(persistentVolumes)].flatMap(({ metadata, spec, status }) => {
      const ref = spec?.claimRef;
      if (ref?.uid === undefined || status?.phase === 'Released' || status?.phase === 'Failed') return [];
      const claim = state.get(persistentVolumeClaims, `${ref.namespace}/${ref.name}`);
      const isOwned = claim?.metadata?.uid === ref.uid && claim?.spec?.volumeName === metadata?.name;
      return isOwned ? [] : [`volume ${metadata?.name} (${status?.phase}) is reserved for ${ref.name}`];
    }),
};

function mountedClaimOf({ metadata, spec }: PersistentVolume, state: StoredObjects): string | undefined {
  const ref = spec?.claimRef;
  const claim = state.get(persistentVolumeClaims, `${ref?.namespace}/${ref?.name}`);
  if (claim === undefined || claim.metadata?.uid !== ref?.uid) return undefined;
  const isMounted = claim.metadata?.annotations?.[annotations.mounted] !== undefined;
  return isMounted && claim.spec?.volumeName === metadata?.name ? ref?.name : undefined;
}
