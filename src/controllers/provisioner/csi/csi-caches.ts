import type { Node } from '../../../kube/api/core.ts';
import type { CSINode, VolumeAttachment } from '../../../kube/api/storage.ts';
import { fittingSegmentsOf } from '../../../kube/fitting-topology.ts';
import { csiNodes, nodes, volumeAttachments } from '../../../kube/resources.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { ProvisionRequest } from '../provisioner.ts';
import { chooseTopology, type TopologyChoice } from './topology-requirement.ts';
import { CsiVolumeIds } from './volume-ids.ts';

/** The objects that only provisioners of CSI drivers need. */
export class CsiCaches {
  readonly #csiNodes: Informer<CSINode>;
  readonly #nodes: Informer<Node>;
  readonly #attachments: Informer<VolumeAttachment>;
  readonly handles: CsiVolumeIds;

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.handles = new CsiVolumeIds(context);
    this.#csiNodes = informers.of(csiNodes);
    this.#nodes = informers.of(nodes);
    this.#attachments = informers.of(volumeAttachments);
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    const caches = [this.#csiNodes, this.#nodes, this.#attachments, this.handles];
    return (await Promise.all(caches.map((cache) => cache.synced(signal)))).every(Boolean);
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  csiNode(name: string): CSINode | undefined {
    return this.#csiNodes.get(name);
  }

  /** Where the volume is attached, or is being attached or detached; undefined if nowhere. */
  attachedNode(volumeName: string): string | undefined {
    for (const { spec } of this.#attachments.values())
      if (spec?.source?.persistentVolumeName === volumeName) return spec.nodeName ?? '';
    return undefined;
  }

  chooseTopology(
    driver: string,
    { claim, storageClass, selectedNode, spread }: ProvisionRequest,
    flags: { readonly strict: boolean; readonly immediate: boolean },
  ): TopologyChoice {
    return chooseTopology({
      driver,
      storageClass,
      selectedNode,
      fitting: fittingSegmentsOf(claim, selectedNode?.metadata?.name),
      spread,
      ...flags,
      csiNodeNamed: (name) => this.#csiNodes.get(name),
      csiNodes: () => this.#csiNodes.values(),
      nodeNamed: (name) => this.#nodes.get(name),
    });
  }

  /** `onNodes` when a driver registers on a node or leaves it, `onDetached` with the volume of an attachment that no longer exists. */
  listen(onNodes: () => void, onDetached: (volumeName: string) => void): () => void {
    const ends = [
      this.handles.listen(),
      this.#csiNodes.addHandler({ added: onNodes, updated: onNodes, deleted: onNodes }),
      this.#attachments.addHandler({
        deleted: ({ spec }) => onDetached(spec?.source?.persistentVolumeName ?? ''),
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
