import type { ServedCsiDriver } from '../../../../csi/served-driver.ts';
import type { Node } from '../../../../kube/api/core.ts';
import { csiNodes, nodes } from '../../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { referenceTo } from '../../../../reconcile/event-recorder.ts';
import type { Requeue } from '../../../../reconcile/workers.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import { type NodePlugins, pluginDriversOf } from '../csi-records/node-plugins.ts';
import {
  changesFor,
  csiNodePatch,
  entryOf,
  hasStaleOwner,
  newCsiNode,
  pluginLabels,
  withoutDrivers,
} from './csi-node-entry.ts';
import { callPlugin } from './plugin-call.ts';

/** The interval of NodeGetInfo calls, unless the CSIDriver sets one: the plugin may have been replaced. */
const askAgainMs = 60_000;
/** The smallest period that a CSIDriver can have. */
const updatePeriodMsMin = 10_000;

/**
 * Registers node plugins as a kubelet does: the topology becomes labels of the Node, then the driver gets its entry in the CSINode. All
 * writes carry the version that was read and are made only where something differs, so after a crash the next run completes them. The labels
 * come first, because a reader of the entry relies on the labels of its topology keys.
 */
export class PluginRegistration {
  readonly #context: ControllerContext;
  readonly #caches: AgentCaches;
  readonly #plugins: NodePlugins;

  constructor(context: ControllerContext, caches: AgentCaches, plugins: NodePlugins) {
    this.#context = context;
    this.#caches = caches;
    this.#plugins = plugins;
  }

  /** Rejects if the plugin does not answer. A node that does not exist is registered when it appears. */
  async register(
    nodeName: string,
    plugin: ServedCsiDriver,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (this.#caches.simulatedNode(nodeName) === undefined) return undefined;
    const { clock } = this.#context;
    const info = await callPlugin(plugin, 'NodeGetInfo', {}, { clock, signal });
    const node = await undefinedIfNotFound(
      this.#context.cluster.resource(nodes).get({ name: nodeName }, { signal }),
    );
    if (node === undefined) return undefined;
    const topology = pluginLabels(node, info);
    if (topology.kind === 'conflict') {
      this.#reportConflict(node, plugin.name, topology.problem);
      return { afterMs: this.#askAgainMs(plugin.name) };
    }
    const { uid, resourceVersion } = node.metadata ?? {};
    if (topology.kind === 'missing') {
      const body = { metadata: { uid, resourceVersion, labels: topology.labels } };
      await this.#context.cluster
        .resource(nodes)
        .patch({ name: nodeName }, { type: 'merge', body }, { signal });
    }
    await this.#writeEntry(node, entryOf(plugin.name, info), signal);
    return { afterMs: this.#askAgainMs(plugin.name) };
  }

  /** Whether the limit of the driver is to be read again after a node could not attach a volume for lack of a slot. */
  updatesLimit(driver: string): boolean {
    return this.#updatePeriodMs(driver) !== undefined;
  }

  #askAgainMs(driver: string): number {
    return this.#updatePeriodMs(driver) ?? askAgainMs;
  }

  #updatePeriodMs(driver: string): number | undefined {
    const seconds = this.#caches.drivers.get(driver)?.spec?.nodeAllocatableUpdatePeriodSeconds;
    return seconds === undefined ? undefined : Math.max(Number(seconds) * 1000, updatePeriodMsMin);
  }

  /**
   * Removes the entries of plugins that are no longer configured. The annotation on the CSINode says which entries are ours; others stay. As
   * long as a plugin of the node has not answered, its name is unknown, so nothing is removed. A CSINode of ours without entries is deleted: a
   * node without a CSINode has every driver again.
   */
  async removeUnconfigured(node: Node, signal: AbortSignal): Promise<void> {
    const name = node.metadata?.name ?? '';
    const csiNode = this.#caches.csiNodes.get(name);
    if (csiNode === undefined) return;
    const gone = pluginDriversOf(csiNode).filter((driver) => this.#plugins.isUnknown(name, driver));
    if (gone.length === 0) return;
    const client = this.#context.cluster.resource(csiNodes);
    const change = withoutDrivers(csiNode, gone);
    const isOurs = (csiNode.metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'Node');
    if (change.drivers.length === 0 && isOurs && !this.#plugins.isConfigured(name)) {
      const { uid = '', resourceVersion = '' } = csiNode.metadata ?? {};
      await undefinedIfNotFound(client.delete({ name }, { preconditions: { uid, resourceVersion }, signal }));
      return;
    }
    const body = csiNodePatch(csiNode, node, change);
    await undefinedIfNotFound(client.patch({ name }, { type: 'merge', body }, { signal }));
  }

  async #writeEntry(node: Node, entry: ReturnType<typeof entryOf>, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(csiNodes);
    const name = node.metadata?.name ?? '';
    let csiNode = await undefinedIfNotFound(client.get({ name }, { signal }));
    const changes = changesFor(csiNode, entry);
    for (const change of changes) {
      if (csiNode === undefined) csiNode = await client.create(newCsiNode(node, change), { signal });
      else {
        const body = csiNodePatch(csiNode, node, change);
        csiNode = await client.patch({ name }, { type: 'merge', body }, { signal });
      }
    }
    if (changes.length > 0 || csiNode === undefined || !hasStaleOwner(csiNode, node)) return;
    const same = { drivers: csiNode.spec?.drivers ?? [], pluginDrivers: pluginDriversOf(csiNode) };
    await client.patch({ name }, { type: 'merge', body: csiNodePatch(csiNode, node, same) }, { signal });
  }

  #reportConflict(node: Node, driver: string, problem: string): void {
    const note = `CSI driver ${driver} is not registered: ${problem}; remove the label, or correct the driver's topology`;
    this.#context.log.warn(`node ${node.metadata?.name}: ${note}`);
    const regarding = referenceTo(node, { apiVersion: 'v1', kind: 'Node' });
    const event = {
      type: 'Warning',
      reason: 'CSIPluginRegistrationFailed',
      action: 'RegisterPlugin',
    } as const;
    this.#context.events.record({ regarding, ...event, note });
  }
}
