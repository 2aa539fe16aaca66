import type { Projected } from '../../../cluster/cluster.ts';
import type { Lease } from '../../../kube/api/coordination.ts';
import type { Condition } from '../../../kube/api/meta.ts';
import { getCondition, setCondition } from '../../../kube/conditions.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { leases } from '../../../kube/resources.ts';
import {
  agentLeaseLabel,
  agentLeaseNamespace,
  agentLeaseSeconds,
  agentLostReason,
  type StorageNode,
  storageNodes,
} from '../../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { SeenSince } from '../../../runtime/seen-since.ts';
import type { DiskCaches } from '../disk-caches.ts';

/** The polling interval. Together with the duration of a Lease, it makes a node not ready within a minute after its agent has ended. */
const pollIntervalMs = 5_000;
/** The only key: all Leases are read together. */
const key = 'leases of disk agents';

/**
 * Sets the condition `Ready` of a StorageNode to Unknown if its agent does not renew its Lease. As in leader election, the times in a Lease are not
 * compared with a clock: a Lease has expired if this process has seen the same `renewTime` for the duration of a Lease, by its own monotonic clock. Only
 * the agent sets the condition to True again. A StorageNode that names no Lease has an agent of another program, and is not changed.
 *
 * Each write carries the version of the StorageNode that was read, so a report of the agent that was stored meanwhile wins. After a crash nothing is left to do.
 */
export class AgentHeartbeats {
  readonly #context: ControllerContext;
  readonly #caches: Pick<DiskCaches, 'nodes'>;
  readonly #queue: WorkQueue;
  #isPolling = false;
  /** The `renewTime` of the agent's Lease, by StorageNode. */
  readonly #renewals: SeenSince<string>;

  constructor(context: ControllerContext, caches: Pick<DiskCaches, 'nodes'>) {
    this.#context = context;
    this.#caches = caches;
    this.#queue = new WorkQueue(context);
    this.#renewals = new SeenSince(context.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodes } = this.#caches;
    const node = ({ status }: Projected<StorageNode>) => {
      if (status?.agentLease !== undefined && !this.#isPolling) this.#queue.add(key);
    };
    const loop = {
      controller: 'disks',
      caches: [nodes],
      listen: () => [nodes.addHandler({ added: node, updated: node })],
      queue: this.#queue,
      reconcile: () => this.#checkLeases(signal),
      workers: 1,
    };
    await runLoop(this.#context, loop, signal);
  }

  /** Without a StorageNode that names a Lease, nothing is read until one does. */
  async #checkLeases(signal: AbortSignal): Promise<Requeue | undefined> {
    const watched = [...this.#caches.nodes.values()].filter(({ status }) => status?.agentLease !== undefined);
    this.#isPolling = watched.length > 0;
    if (!this.#isPolling) return undefined;
    const { items } = await this.#context.cluster.resource(leases).list({
      namespace: agentLeaseNamespace,
      labelSelector: `${agentLeaseLabel}=disk-agent`,
      signal,
    });
    const found = new Map(items.map((lease) => [lease.metadata?.name ?? '', lease]));
    for (const node of watched)
      if (this.#hasExpired(node, found.get(node.status?.agentLease ?? '')))
        await this.#markNotReady(node, signal);
    return { afterMs: pollIntervalMs };
  }

  #hasExpired({ metadata, status }: Projected<StorageNode>, lease: Lease | undefined): boolean {
    const renewal = `${status?.agentLease} ${lease?.spec?.renewTime}`;
    return this.#renewals.ageMs(metadata?.name ?? '', renewal) >= agentLeaseSeconds * 1000;
  }

  async #markNotReady({ metadata }: Projected<StorageNode>, signal: AbortSignal): Promise<void> {
    const name = metadata?.name ?? '';
    const client = this.#context.cluster.resource(storageNodes);
    const node = await undefinedIfNotFound(client.get({ name }, { signal }));
    const { agentLease, conditions } = node?.status ?? {};
    const before = getCondition(conditions, 'Ready');
    if (node === undefined || agentLease === undefined || before?.reason === agentLostReason) return;
    const lost: Condition = {
      type: 'Ready',
      status: 'Unknown',
      reason: agentLostReason,
      message: `The agent of node ${name} has not renewed its Lease ${agentLeaseNamespace}/${agentLease} for ${agentLeaseSeconds} s; start it, or check the node`,
    };
    const { uid, resourceVersion } = node.metadata ?? {};
    const now = formatTimestamp(this.#context.clock.nowMs());
    const body = {
      metadata: { uid, resourceVersion },
      status: { conditions: setCondition(conditions, lost, now) },
    };
    await retryIfStale(async () => {
      await client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
      this.#context.events.record({
        regarding: referenceTo(node, { apiVersion: apiVersionOf(storageNodes), kind: 'StorageNode' }),
        type: 'Warning',
        reason: agentLostReason,
        action: 'MarkNotReady',
        note: lost.message ?? '',
      });
    });
  }
}
