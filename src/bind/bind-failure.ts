import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';

/** A placement that did not come about. What may be undone has been. */
export class BindFailure extends Error {
  /** The new volume that could not be made; its node is avoided for a while. */
  readonly provision: Provision | undefined;
  /** Volumes that stay with their claims though the pod goes elsewhere, or nowhere: their binding can't be undone. */
  readonly keptBindings: readonly ClaimBinding[];

  constructor(
    message: string,
    {
      provision,
      kept = [],
    }: { readonly provision?: Provision | undefined; readonly kept?: readonly ClaimBinding[] } = {},
  ) {
    super(message);
    this.name = 'BindFailure';
    this.provision = provision;
    this.keptBindings = kept;
  }
}

/** Where the failure was that a new volume could not be made, its node is avoided for a while. */
export function avoidNodeAfter(
  { provision }: BindFailure,
  nodeName: string,
  index: ClusterIndex,
  nowMs: number,
): void {
  if (provision === undefined) return;
  const { claim: claimKey, claimUid, pool } = provision;
  index.provisioningFailures.record({ claimKey, claimUid, nodeName, poolKey: pool?.key ?? '', nowMs });
}
