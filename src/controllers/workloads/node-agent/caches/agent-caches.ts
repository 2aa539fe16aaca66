import type { Lease } from '../../../../kube/api/coordination.ts';
import type {
  ConfigMap,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from '../../../../kube/api/core.ts';
import type { CSIDriver, CSINode, VolumeAttachment } from '../../../../kube/api/storage.ts';
import { keyOf } from '../../../../kube/object-key.ts';
import {
  configMaps,
  csiDrivers,
  csiNodes,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  volumeAttachments,
} from '../../../../kube/resources.ts';
import { drivesDriver } from '../../../../kube/stowage/drive.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import type { Informer } from '../../../../reconcile/informer/informer.ts';
import { type NodePlugins, pluginDriversOf } from '../csi-records/node-plugins.ts';
import { attachmentFor, isAttachable } from '../mounts/attachments.ts';
import type { MountView } from '../mounts/mount-check.ts';
import type { ConfigLookup } from '../mounts/referenced-config.ts';
import { uniqueVolumeName, type VolumeReport } from '../nodes/node-volumes.ts';
import { isSimulated, leaseNamespace } from '../nodes/simulated-nodes.ts';
import { holdsVolumes } from '../pods/pod-lifecycle.ts';
import { AttachmentIndex } from './attachment-index.ts';
import { PodAddresses } from './pod-addresses.ts';
import { claimKeysOf, PodsByNodeAndClaim } from './pods-by-node-and-claim.ts';

/** The agent's view of the cluster. */
export class AgentCaches {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly leases: Informer<Lease>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly drivers: Informer<CSIDriver>;
  readonly csiNodes: Informer<CSINode>;
  readonly attachments: Informer<VolumeAttachment>;
  readonly secrets: Informer<Secret>;
  readonly configMaps: Informer<ConfigMap>;
  readonly podIndex = new PodsByNodeAndClaim();
  readonly attached = new AttachmentIndex();
  readonly addresses = new PodAddresses();
  readonly #checksNodeAffinity: boolean;
  readonly #plugins: NodePlugins;

  constructor({ informers }: ControllerContext, checksNodeAffinity: boolean, plugins: NodePlugins) {
    this.#checksNodeAffinity = checksNodeAffinity;
    this.#plugins = plugins;
    this.pods = informers.of(pods);
    this.nodes = informers.of(nodes);
    this.leases = informers.of(leases);
    this.claims = informers.of(persistentVolumeClaims);
    this.volumes = informers.of(persistentVolumes);
    this.drivers = informers.of(csiDrivers);
    this.csiNodes = informers.of(csiNodes);
    this.attachments = informers.of(volumeAttachments);
    this.secrets = informers.of(secrets);
    this.configMaps = informers.of(configMaps);
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    const caches = [
      this.pods,
      this.nodes,
      this.leases,
      this.claims,
      this.volumes,
      this.drivers,
      this.csiNodes,
      this.attachments,
      this.secrets,
      this.configMaps,
    ];
    const synced = await Promise.all(caches.map((cache) => cache.synced(signal)));
    return synced.every(Boolean);
  }

  /** Keeps the derived indexes up to date with the caches; call it before any other handler is added. */
  follow(): readonly (() => void)[] {
    const pod = (object: Pod) => {
      this.podIndex.note(object);
      this.addresses.note(object);
    };
    const endPods = this.pods.addHandler({
      added: pod,
      updated: pod,
      deleted: (object) => {
        this.podIndex.forget(object);
        this.addresses.forget(object);
      },
    });
    // A pod that runs shows that no agent has requested a deletion: no pod starts with such an attachment.
    for (const object of this.attachments.values()) if (!this.#isInUse(object)) this.attached.inherit(object);
    const attachment = (object: VolumeAttachment) => this.attached.put(object);
    const endAttachments = this.attachments.addHandler({
      added: attachment,
      updated: attachment,
      deleted: ({ metadata }) => this.attached.drop(metadata?.name ?? ''),
    });
    return [endPods, endAttachments];
  }

  /** Whether a pod runs with it. */
  #isInUse({ spec }: VolumeAttachment): boolean {
    const users = this.usersOn(spec?.nodeName ?? '', spec?.source?.persistentVolumeName ?? '');
    return users.some(({ status }) => status?.phase === 'Running');
  }

  leaseOf(nodeName: string): Lease | undefined {
    return this.leases.get(`${leaseNamespace}/${nodeName}`);
  }

  /** The node, if the agent simulates its kubelet. */
  simulatedNode(nodeName: string): Node | undefined {
    const node = this.nodes.get(nodeName);
    return node !== undefined && isSimulated(node, this.leaseOf(nodeName)) ? node : undefined;
  }

  /** Whether a node plugin serves the driver on the node, also one that has not answered since the start. */
  isOfPlugin(nodeName: string, driver: string): boolean {
    const csiNode = this.csiNodes.get(nodeName);
    const isRegistered = csiNode !== undefined && pluginDriversOf(csiNode).includes(driver);
    return isRegistered || this.#plugins.driver(nodeName, driver) !== undefined;
  }

  attachmentFor(volume: PersistentVolume, nodeName: string): VolumeAttachment | undefined {
    return attachmentFor(volume, nodeName, this.drivers.get(volume.spec?.csi?.driver ?? ''));
  }

  /** Pods other than `except` that hold the claim's volume. */
  usersOf(claimKey: string, except?: Pod): readonly Pod[] {
    return [...this.podIndex.ofClaim(claimKey)].flatMap((key) => {
      const pod = this.pods.get(key);
      const counts = pod !== undefined && holdsVolumes(pod) && pod.metadata?.uid !== except?.metadata?.uid;
      return counts ? [pod] : [];
    });
  }

  /** Pods on the node that hold the volume. */
  usersOn(nodeName: string, volumeName: string): readonly Pod[] {
    const { namespace, name } = this.volumes.get(volumeName)?.spec?.claimRef ?? {};
    return this.usersOf(`${namespace}/${name}`).filter(({ spec }) => spec?.nodeName === nodeName);
  }

  /** Pods on the node that hold their resources there. */
  holdersOn(nodeName: string): readonly Pod[] {
    return [...this.podIndex.onNode(nodeName)].flatMap((key) => {
      const pod = this.pods.get(key);
      return pod !== undefined && holdsVolumes(pod) ? [pod] : [];
    });
  }

  /** Names of the volumes of the pod's bound claims that have to be attached. */
  attachableNames(pod: Pod): readonly string[] {
    return claimKeysOf(pod).flatMap((key) => {
      const claim = this.claims.get(key);
      const volume = this.volumes.get(claim?.spec?.volumeName ?? '');
      const isBound = claim?.status?.phase === 'Bound' && volume?.spec?.claimRef?.uid === claim.metadata?.uid;
      const driver = this.drivers.get(volume?.spec?.csi?.driver ?? '');
      if (volume === undefined || !isBound || !isAttachable(volume, driver)) return [];
      return uniqueVolumeName(volume) ?? [];
    });
  }

  /**
   * The volumes that the node's status must report, from its pods and attachments alone. A volume that no pod holds is no longer
   * reported although it is still attached: the report changes first, then the volume is detached.
   */
  volumeReport(nodeName: string): VolumeReport {
    const inUse = new Set(this.holdersOn(nodeName).flatMap((pod) => this.attachableNames(pod)));
    for (const name of this.#plugins.heldVolumes(nodeName)) inUse.add(name);
    const attached = new Set<string>();
    for (const attachment of this.attached.onNode(nodeName)) {
      const volumeName = attachment.spec?.source?.persistentVolumeName ?? '';
      const name = this.reportedName(volumeName);
      const isHeld = (name !== undefined && inUse.has(name)) || this.usersOn(nodeName, volumeName).length > 0;
      if (name === undefined || !isHeld) continue;
      if (!this.attached.isUsable(attachment)) continue;
      attached.add(name);
      // A claim that lost its volume under a pod does not unmount it.
      inUse.add(name);
    }
    return { inUse: [...inUse].sort(), attached: [...attached].sort() };
  }

  /** The name of the volume in a node's status; undefined if there is no such volume. */
  reportedName(volumeName: string): string | undefined {
    const volume = this.volumes.get(volumeName);
    return volume && uniqueVolumeName(volume);
  }

  /** The Secrets and ConfigMaps that the pod can use. */
  configOf({ metadata }: Pod): ConfigLookup {
    return {
      secret: (name) => this.secrets.get(`${metadata?.namespace}/${name}`),
      configMap: (name) => this.configMaps.get(`${metadata?.namespace}/${name}`),
    };
  }

  mountView(pod: Pod, node: Node): MountView {
    const { namespace } = pod.metadata ?? {};
    const nodeName = node.metadata?.name ?? '';
    return {
      pod,
      node,
      claim: (name) => this.claims.get(`${namespace}/${name}`),
      volume: (name) => this.volumes.get(name),
      attachment: (volume) => this.attachmentFor(volume, nodeName),
      attachments: (volume) => this.attached.ofVolume(volume.metadata?.name ?? ''),
      users: (claim) => this.usersOf(keyOf(claim), pod),
      freeSlots: (driver) => this.#freeSlots(nodeName, driver),
      hasDriver: (driver) => this.#hasDriver(nodeName, driver),
      mayRegister: this.#plugins.isConfigured(nodeName),
      config: this.configOf(pod),
      checksNodeAffinity: this.#checksNodeAffinity,
    };
  }

  /**
   * A node with a CSINode has the drivers that it lists. A kubelet would create an empty CSINode, but simulated nodes have none: a node
   * without a CSINode has every driver, so that volumes work on nodes that list no drivers. The entry that controller `drives` adds to
   * simulated nodes says nothing about other drivers. A node with node plugins has only those that are registered; an entry that a plugin
   * left counts when the plugin has answered, and any other entry when all plugins have.
   */
  #hasDriver(nodeName: string, driver: string): boolean {
    const csiNode = this.csiNodes.get(nodeName);
    const hasPlugins = this.#plugins.isConfigured(nodeName);
    if (csiNode === undefined || (!hasPlugins && listsOnlyDrives(csiNode))) return !hasPlugins;
    if (!(csiNode.spec?.drivers ?? []).some(({ name }) => name === driver)) return false;
    if (this.#plugins.driver(nodeName, driver) !== undefined) return true;
    // A plugin that has not answered yet may turn out to be this driver: then a pod must not start without its volumes.
    return !this.isOfPlugin(nodeName, driver) && this.#plugins.isUnknown(nodeName, driver);
  }

  /** A driver without a number has no limit. */
  #freeSlots(nodeName: string, driver: string): number {
    const drivers = this.csiNodes.get(nodeName)?.spec?.drivers ?? [];
    const limit = drivers.find(({ name }) => name === driver)?.allocatable?.count;
    return limit === undefined ? Number.POSITIVE_INFINITY : limit - this.attached.count(nodeName, driver);
  }
}

function listsOnlyDrives({ spec }: CSINode): boolean {
  const drivers = spec?.drivers ?? [];
  return drivers.length > 0 && drivers.every(({ name }) => name === drivesDriver);
}
