import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Refusal } from './refusal.ts';

/**
 * Pods of equal shape that fit nowhere share one answer: a thousand replicas too many cost one plan, not a thousand. What makes an
 * answer stale is said by the rules that gave it, each for itself, so that nothing can be forgotten here.
 *
 * Only refusals are kept. A placement is stale the moment it is reserved, and what it cost is less than a millisecond.
 */
export class RefusalCache<Extra> {
  readonly #index: ClusterIndex;
  readonly #known = new Map<string, CachedRefusal<Extra>>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  /** The answer for a pod of equal shape, made out to this one; undefined if there is none that still holds. */
  get(pod: PodRecord): CachedRefusal<Extra> | undefined {
    if (this.#known.size === 0) return undefined;
    const signature = signatureOf(this.#index, pod);
    const known = signature === undefined ? undefined : this.#known.get(signature);
    return known && { refusal: known.refusal.forPod(pod), extra: known.extra };
  }

  set(refusal: Refusal, extra: Extra): void {
    const signature = signatureOf(this.#index, refusal.pod);
    // What runs out by itself is no event, and nobody would say that it is stale.
    if (signature === undefined || refusal.waker.retryAtMs !== undefined) return;
    if (this.#known.size >= entriesMax) this.#known.clear();
    this.#known.set(signature, { refusal, extra });
  }

  clear(): void {
    this.#known.clear();
  }

  onChange(change: ClusterChange): void {
    for (const [signature, { refusal }] of this.#known) {
      if (refusal.waker.isStaleBy(change)) this.#known.delete(signature);
    }
  }

  /** A pod has been reserved a place: to everybody else it is there from now on, though no event says so. */
  onAssumed(pod: PodRecord, nodeName: string): void {
    if (this.#known.size === 0) return;
    this.onChange({ kind: 'Pod', before: pod, after: { ...pod, nodeName }, freesPromises: false });
  }
}

export interface CachedRefusal<Extra> {
  readonly refusal: Refusal;
  /** What its owner found out beyond that, such as whether evicting others would help. */
  readonly extra: Extra;
}

/** Different answers for more shapes than this aren't worth asking about at every event. */
const entriesMax = 256;

/** All that rules read of a pod; undefined if one of its claims is already on its way somewhere, and so like no other. */
function signatureOf(index: ClusterIndex, pod: PodRecord): string | undefined {
  const claims: string[] = [];
  for (const { key, isEphemeral } of pod.claims) {
    const claim = index.claims.get(key);
    const signature = claim && claimSignature(index, claim, isEphemeral);
    if (signature === undefined) return undefined;
    claims.push(signature);
  }
  const { namespace, priority, preemptsOthers, nominatedNode, owner, labels, shape } = pod;
  const inline = pod.inlineVolumes.map(({ driver, size }) => [driver, size?.bytes]);
  const migrated = pod.migratedVolumes.map(({ driver, handle }) => [driver, handle]);
  const rest = [namespace, priority, preemptsOthers, nominatedNode, owner, labels, claims, inline, migrated];
  return `${JSON.stringify(rest)} ${shape.key}`;
}

function claimSignature(index: ClusterIndex, claim: ClaimRecord, isEphemeral: boolean): string | undefined {
  const isOnItsWay =
    claim.volumeName !== '' ||
    claim.hasSelectedNode ||
    claim.isLost ||
    claim.isDeleting ||
    claim.isRollingBack ||
    !claim.isUsable ||
    index.volumes.heldFor(claim.key) !== undefined ||
    index.volumes.claimedFor(claim.key).length > 0 ||
    [...index.provisioningFailures.avoidedNodes(claim.key, claim.uid, Number.NEGATIVE_INFINITY)].length > 0;
  // Who owns the claim of an ephemeral volume is part of the answer.
  if (isOnItsWay || isEphemeral) return undefined;
  const { className, request, mode, attributesClass, accessModes, selectorKey } = claim;
  return JSON.stringify([className, request?.bytes, mode, attributesClass, accessModes, selectorKey]);
}
