import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { ClaimReference } from '../../engine/records/volume-record.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { quantityText } from '../pools/amounts.ts';
import type { ReachReader } from '../pools/reach.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import type { BoundBy, HeldVolume, HoldState } from './report.ts';

/** The volumes whose claimRef names a claim, by claim. */
export function heldVolumes(
  view: ClusterView,
  index: ClusterIndex,
  reaches: ReachReader,
): readonly HeldVolume[] {
  const { volumes, claims } = index;
  const held = [...volumes.records()].flatMap((volume): HeldVolume[] => {
    const { key, claim: reference, className, size, phase } = volume;
    if (reference === undefined) return [];
    const isSeen = claimsAreSeen(view, reference.claimKey);
    return [
      {
        claim: reference.claimKey,
        volume: key,
        storageClass: className,
        size: quantityText(size),
        phase,
        state: isSeen ? holdState(key, reference, claims.get(reference.claimKey)) : 'Unknown',
        boundBy: boundBy(view.snapshot.get('PersistentVolume', key)),
        reach: reaches.of(volumes.topology(volumes.row(key)!)),
      },
    ];
  });
  const order = ({ claim, volume }: HeldVolume) => `${claim} ${volume}`;
  return held.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** A missing claim has no meaning if claims could not be read. */
function claimsAreSeen({ snapshot, unseen }: ClusterView, claimKey: string): boolean {
  const hidden = unseen?.find(({ kind }) => kind === 'PersistentVolumeClaim');
  if (hidden !== undefined) return claimKey.startsWith(`${hidden.onlyNamespace}/`);
  return unseen !== undefined || snapshot.count('PersistentVolumeClaim') > 0;
}

function holdState(volume: string, { uid }: ClaimReference, claim: ClaimRecord | undefined): HoldState {
  if (claim === undefined) return uid === '' ? 'Awaited' : 'Released';
  if (uid !== '' && uid !== claim.uid) return 'Released';
  if (claim.isRollingBack) return 'RollingBack';
  if (claim.volumeName === '') return 'InFlight';
  if (claim.volumeName !== volume) return 'Misplaced';
  return claim.isBound ? 'Bound' : 'InFlight';
}

function boundBy(volume: PersistentVolume | undefined): BoundBy {
  const marks = volume?.metadata?.annotations ?? {};
  if (Object.hasOwn(marks, annotations.boundByController)) return 'controller';
  return Object.hasOwn(marks, annotations.provisionedBy) ? 'provisioner' : 'person';
}
