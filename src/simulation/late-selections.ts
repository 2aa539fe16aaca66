import type { ClusterCall } from '../cluster/intercepted-cluster.ts';
import type { PersistentVolumeClaim } from '../kube/api/core.ts';
import { annotations } from '../kube/well-known.ts';

/**
 * The nodes that schedulers selected for claims, and that the server stored after those schedulers had ended or lost their Lease. What is
 * reserved for a volume is known to its scheduler alone until the claim has its node: the next scheduler reads the claim without it, and may
 * promise the same bytes to another one. Kubernetes has no fence for that. It is safe: the driver refuses what does not fit, the
 * provisioner clears the node, and the pod moves.
 */
export class LateSelections {
  /** `UID NODE` each. */
  readonly #written = new Set<string>();

  /** A write of a process that has ended is about to arrive. */
  add({ resource, body }: ClusterCall): void {
    const claim = body as PersistentVolumeClaim | undefined;
    const node = claim?.metadata?.annotations?.[annotations.selectedNode];
    if (resource.plural === 'persistentvolumeclaims' && typeof node === 'string')
      this.#written.add(`${claim?.metadata?.uid} ${node}`);
  }

  has(claimUid: string, node: string): boolean {
    return this.#written.has(`${claimUid} ${node}`);
  }
}
