import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { apartGroupOf } from '../cluster-index/pools/policies/apart-group.ts';
import { spreadGroupOf } from '../cluster-index/pools/policies/spread-group.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { policyKey } from '../records/volume-policy.ts';
import type { Refusal } from './refusal.ts';

/**
 * Pods of equal shape that fit nowhere share one refusal: a thousand replicas too many cost one plan, not a thousand. The rules that
 * refused the pod decide which changes invalidate the entry, so this class needs no knowledge of its own.
 *
 * The cache holds only refusals. A placement is stale as soon as it is reserved, and computing one costs less than a millisecond.
 */
export class RefusalCache<Extra> {
  readonly #index: ClusterIndex;
  readonly #known = new Map<string, CachedRefusal<Extra>>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  /** The valid refusal of a pod of equal shape, rewritten for this pod; undefined if there is none. */
  get(pod: PodRecord): CachedRefusal<Extra> | undefined {
    if (this.#known.size === 0) return undefined;
    const signature = signatureOf(this.#index, pod);
    const known = signature === undefined ? undefined : this.#known.get(signature);
    return known && { refusal: known.refusal.forPod(pod), extra: known.extra };
  }

  set(refusal: Refusal, extra: Extra): void {
    const signature = signatureOf(this.#index, refusal.pod);
    // A pause that expires is not an event, so nothing would invalidate the entry.
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

  /** Call when a pod is reserved on a node: it counts there from now on, although no event reports it yet. */
  onAssumed(pod: PodRecord, nodeName: string): void {
    if (this.#known.size === 0) return;
    this.onChange({ kind: 'Pod', before: pod, after: { ...pod, nodeName }, freedPools: [] });
  }
}

export interface CachedRefusal<Extra> {
  readonly refusal: Refusal;
  /** Further results of the caller, such as whether preemption would help. */
  readonly extra: Extra;
}

/** Every event checks every entry, so more entries than this cost more than they save. */
const entriesMax = 256;

/** Everything that rules read of a pod; undefined if one of its claims is already being bound, which makes the pod unique. */
function signatureOf(index: ClusterIndex, pod: PodRecord): string | undefined {
  const claims: string[] = [];
  for (const { key, isEphemeral } of pod.claims) {
    const claim = index.claims.get(key);
    const signature = claim && claimSignature(index, claim, { pod, isEphemeral });
    if (signature === undefined) return undefined;
    claims.push(signature);
  }
  const { namespace, priority, preemptsOthers, nominatedNode, owner, labels, shape } = pod;
  const inline = pod.inlineVolumes.map(({ driver, size, drive }) => [driver, size?.bytes, drive]);
  const migrated = pod.migratedVolumes.map(({ driver, handle }) => [driver, handle]);
  const rest = [namespace, priority, preemptsOthers, nominatedNode, owner, labels, claims, inline, migrated];
  return `${JSON.stringify(rest)} ${shape.key}`;
}

function claimSignature(
  index: ClusterIndex,
  claim: ClaimRecord,
  { pod, isEphemeral }: { readonly pod: PodRecord; readonly isEphemeral: boolean },
): string | undefined {
  const isBeingBound =
    claim.volumeName !== '' ||
    claim.hasSelectedNode ||
    claim.isLost ||
    claim.isDeleting ||
    claim.isRollingBack ||
    !claim.isUsable ||
    index.volumes.heldFor(claim.key) !== undefined ||
    index.volumes.claimedFor(claim.key).length > 0 ||
    [...index.provisioningFailures.avoidedNodes(claim.key, claim.uid, Number.NEGATIVE_INFINITY)].length > 0;
  // The owner of an ephemeral volume's claim is part of the answer.
  if (isBeingBound || isEphemeral) return undefined;
  const { className, request, mode, attributesClass, accessModes, selectorKey } = claim;
  const group = spreadGroupOf(index, claim, pod) ?? apartGroupOf(index, claim, pod);
  const policy = policyKey(claim.policy);
  const asked = [className, request?.bytes, mode, attributesClass, accessModes, selectorKey, policy];
  return JSON.stringify(group === undefined ? asked : [...asked, group]);
}
