import type { Pod } from '../../../../kube/api/core.ts';
import { claimNamesOf } from '../../../../kube/claims-of-pod.ts';
import { keyOf } from '../../../../kube/object-key.ts';

const none: ReadonlySet<string> = new Set();

/** Keys of pods, `NAMESPACE/NAME`, by the node they are on and by the claims they use. */
export class PodsByNodeAndClaim {
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byClaim = new Map<string, Set<string>>();

  note(pod: Pod): void {
    const key = keyOf(pod);
    const nodeName = pod.spec?.nodeName ?? '';
    if (nodeName === '') return;
    put(this.#byNode, nodeName, key);
    for (const claim of claimKeysOf(pod)) put(this.#byClaim, claim, key);
  }

  forget(pod: Pod): void {
    const key = keyOf(pod);
    drop(this.#byNode, pod.spec?.nodeName ?? '', key);
    // A pod without grace no longer counts its ephemeral claims; it was added when it did.
    for (const claim of claimKeysOf({ ...pod, metadata: withoutDeletion(pod) }))
      drop(this.#byClaim, claim, key);
  }

  /** Pods on the node, in any state. A live view. */
  onNode(nodeName: string): ReadonlySet<string> {
    return this.#byNode.get(nodeName) ?? none;
  }

  /** Pods on some node that use the claim, `NAMESPACE/NAME`. A live view. */
  ofClaim(claimKey: string): ReadonlySet<string> {
    return this.#byClaim.get(claimKey) ?? none;
  }
}

export function claimKeysOf(pod: Pod): readonly string[] {
  return claimNamesOf(pod).map((name) => `${pod.metadata?.namespace}/${name}`);
}

function withoutDeletion({ metadata }: Pod): NonNullable<Pod['metadata']> {
  const { deletionGracePeriodSeconds: _, ...rest } = metadata ?? {};
  return rest;
}

function put(map: Map<string, Set<string>>, at: string, key: string): void {
  const keys = map.get(at);
  if (keys === undefined) map.set(at, new Set([key]));
  else keys.add(key);
}

function drop(map: Map<string, Set<string>>, at: string, key: string): void {
  const keys = map.get(at);
  if (keys?.delete(key) && keys.size === 0) map.delete(at);
}
