import type { PersistentVolume, PersistentVolumeClaim, ResourceList } from '../../kube/api/core.ts';
import { pluginOfVolume } from '../../kube/legacy/in-tree-migration.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantities/quantity.ts';
import { annotations } from '../../kube/well-known.ts';

/** The next step for the size of a claim. */
export type ExpansionStep =
  | { readonly kind: 'nothing' }
  /** Another resizer has to act; if a CSI driver took over the volume, it waits for its name on the claim. */
  | { readonly kind: 'external'; readonly note: string; readonly resizer: string | undefined }
  | { readonly kind: 'expand'; readonly size: string }
  /** The same size was found infeasible before. */
  | { readonly kind: 'retry-later'; readonly size: string }
  /** The node has finished: the volume need not keep the old size any more. */
  | { readonly kind: 'forget-old-size' };

const nothing: ExpansionStep = { kind: 'nothing' };

/** Further facts that the decision depends on, besides the objects. */
export interface ExpansionFacts {
  readonly hasResizer: boolean;
  /** The last attempt has ended without effect: another size may be tried. */
  readonly hasFailed?: boolean;
  /** Only nodes expand these volumes. */
  readonly isNodeOnly?: boolean | undefined;
}

/**
 * As Kubernetes does since recovery from failed expansions (KEP 1790): a started expansion is finished with the size that is
 * recorded in `allocatedResources`, so that a size which may count against a quota or a disk is never lost; only a
 * size that was found infeasible is replaced by the current request.
 */
export function decideExpansion(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  facts: ExpansionFacts,
): ExpansionStep {
  if (!isBoundTo(claim, volume)) return nothing;
  const sizes = sizesOf(claim, volume);
  if (isNodeDone(volume, sizes)) return { kind: 'forget-old-size' };
  if (!isLess(sizes.current, sizes.requested)) return nothing;
  if (!facts.hasResizer) return external(volume);
  const state = claim.status?.allocatedResourceStatuses?.storage ?? '';
  return isLess(sizes.volume, sizes.requested) ? grow(sizes, state, facts) : complete(sizes, state, facts);
}

interface Sizes {
  readonly requested: string;
  readonly current: string;
  readonly allocated: string | undefined;
  readonly volume: string;
}

/** The volume is smaller than the request. */
function grow(
  { requested, allocated, volume }: Sizes,
  state: string,
  { hasFailed = false }: ExpansionFacts,
): ExpansionStep {
  switch (state) {
    case 'NodeResizePending':
    case 'NodeResizeInProgress':
      // The node acts first; when it has finished, the rest follows.
      if (allocated !== undefined && !isLess(volume, allocated)) return nothing;
      return { kind: 'expand', size: allocated ?? requested };
    case 'ControllerResizeInProgress':
      return { kind: 'expand', size: hasFailed ? requested : (allocated ?? requested) };
    case 'NodeResizeInfeasible':
      return { kind: 'expand', size: allocated ?? requested };
    case 'ControllerResizeInfeasible':
      return { kind: isSame(allocated, requested) ? 'retry-later' : 'expand', size: requested };
    default:
      return { kind: 'expand', size: requested };
  }
}

/** The volume is large enough, but the claim does not show it. */
function complete(
  { requested, allocated }: Sizes,
  state: string,
  { isNodeOnly = false }: ExpansionFacts,
): ExpansionStep {
  switch (state) {
    case 'NodeResizePending':
    case 'NodeResizeInProgress':
      return nothing;
    case 'NodeResizeInfeasible':
      // The node may try again once the driver has confirmed the size; where only nodes act, the claim may request less.
      return { kind: 'expand', size: isNodeOnly ? requested : (allocated ?? requested) };
    default:
      return { kind: 'expand', size: allocated ?? requested };
  }
}

function isBoundTo({ metadata, spec, status }: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const isBound = status?.phase === 'Bound' && spec?.volumeName === volume.metadata?.name;
  return isBound && volume.spec?.claimRef?.uid === metadata?.uid;
}

function sizesOf({ spec, status }: PersistentVolumeClaim, volume: PersistentVolume): Sizes {
  return {
    requested: storageOf(spec?.resources?.requests) ?? '0',
    current: storageOf(status?.capacity) ?? '0',
    allocated: storageOf(status?.allocatedResources),
    volume: storageOf(volume.spec?.capacity) ?? '0',
  };
}

function isNodeDone({ metadata }: PersistentVolume, { current, volume }: Sizes): boolean {
  return metadata?.annotations?.[annotations.preResizeCapacity] !== undefined && !isLess(current, volume);
}

function external(volume: PersistentVolume): ExpansionStep {
  const found = pluginOfVolume(volume);
  const note =
    found === undefined
      ? 'waiting for an external controller to expand this PVC'
      : `CSI migration enabled for ${found.plugin}; waiting for external resizer to expand the pvc`;
  return { kind: 'external', note, resizer: found?.driver };
}

/** The amount of storage in a list of resources. */
export function storageOf(resources: ResourceList | undefined): string | undefined {
  const text = resources?.storage;
  return text === undefined ? undefined : String(text);
}

/** The server accepts only quantities; any other text would change nothing. */
export function isLess(one: string, other: string): boolean {
  const [left, right] = [parseQuantity(one), parseQuantity(other)];
  return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) < 0;
}

/** Both sizes exist and are equal. */
export function isSame(one: string | undefined, other: string): boolean {
  return one !== undefined && !isLess(one, other) && !isLess(other, one);
}
