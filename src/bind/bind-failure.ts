import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';

/** A placement could not be bound. The session has reverted the writes that can be reverted. */
export class BindFailure extends Error {
  /** The new volume that could not be provisioned; plans avoid its node for a while. */
  readonly provision: Provision | undefined;
  /** Volumes that stay bound to their claims, wherever the pod goes: their binding cannot be undone. */
  readonly keptBindings: readonly ClaimBinding[];

  constructor(
    message: string,
    {
      provision,
      keptBindings = [],
    }: {
      readonly provision?: Provision | undefined;
      readonly keptBindings?: readonly ClaimBinding[];
    } = {},
  ) {
    super(message);
    this.name = 'BindFailure';
    this.provision = provision;
    this.keptBindings = keptBindings;
  }
}

/** If a new volume could not be provisioned, plans avoid that node for this claim for a while. */
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
