import type { Node, PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { nodes } from '../kube/resources.ts';
import { matchesNode } from '../kube/selectors/node-selector.ts';
import { volumeNodeSelector } from '../kube/volumes.ts';
import { annotations } from '../kube/well-known.ts';
import { lookUp, textOf } from '../kube/wire.ts';
import type { ControllerContext } from '../reconcile/controller.ts';
import type { Informer } from '../reconcile/informer/informer.ts';

/**
 * The node of this process, where each node has its own process with the driver of that node (`--node-deployment`): which volumes
 * are this node's. No leader decides, so each process has to leave the volumes of other nodes alone: their drivers have them.
 */
export class ServedNode {
  readonly name: string;
  readonly #nodes: Informer<Node>;

  /** Undefined if this process serves all nodes. */
  static of(
    csi: { readonly nodeName?: string | undefined } | undefined,
    context: Pick<ControllerContext, 'informers'>,
  ): ServedNode | undefined {
    return csi?.nodeName === undefined ? undefined : new ServedNode(csi.nodeName, context);
  }

  constructor(name: string, { informers }: Pick<ControllerContext, 'informers'>) {
    this.name = name;
    this.#nodes = informers.of(nodes);
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    return await this.#nodes.synced(signal);
  }

  /** Whether this node can reach the volume. A volume without a node affinity is reached from everywhere. */
  reaches(volume: PersistentVolume): boolean {
    return this.#isReachedFrom(this.name, volume);
  }

  /**
   * Whether the driver of this node has to change or delete the volume. The process that created the volume recorded its node; for volumes
   * of other provisioners, the selected node of the claim is where the volume was created. While that node exists and reaches the volume,
   * no other node acts: a driver that does not know a volume reports that it has been deleted. Otherwise each node that reaches the
   * volume acts.
   */
  owns(volume: PersistentVolume, claim?: PersistentVolumeClaim): boolean {
    const recorded = textOf(lookUp(volume.metadata?.annotations, annotations.creatorNode));
    const selected = textOf(lookUp(claim?.metadata?.annotations, annotations.selectedNode));
    const creator = recorded === '' ? selected : recorded;
    if (creator === '' || this.isGone(creator) || !this.#isReachedFrom(creator, volume))
      return this.reaches(volume);
    return creator === this.name;
  }

  isGone(nodeName: string): boolean {
    return this.#nodes.get(nodeName) === undefined;
  }

  /** Calls `handler` when it may have changed which volumes are this node's. */
  onChange(handler: () => void): () => void {
    return this.#nodes.addHandler({
      added: handler,
      updated: (node, old) => {
        if (labelsText(node) !== labelsText(old)) handler();
      },
      deleted: handler,
    });
  }

  #isReachedFrom(nodeName: string, volume: PersistentVolume): boolean {
    const selector = volumeNodeSelector(volume);
    return (
      selector === undefined || matchesNode(selector, nodeName, this.#nodes.get(nodeName)?.metadata?.labels)
    );
  }
}

function labelsText({ metadata }: Node): string {
  return JSON.stringify(metadata?.labels ?? {});
}
