import { isDeepStrictEqual } from 'node:util';
import { isReason } from '../../../kube/api-error.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { nodes } from '../../../kube/resources.ts';
import {
  type StorageNode,
  type StorageNodeStatus,
  storageNodes,
} from '../../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { labels } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { retryIfStale } from '../../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { DiskAgentCaches } from '../agent-caches.ts';
import type { HostFiles } from '../files/host-files.ts';
import type { DiskProbe } from '../files/probe-disk.ts';
import type { AgentDisks } from './agent-disks.ts';
import { reportedStatus } from './disk-report.ts';
import { type DiskUsage, diskUsage } from './disk-usage.ts';
import type { Heartbeat } from './heartbeat.ts';

/** The polling interval of the disks. */
const probeEveryMs = 30_000;
/** The delay after a change of files, and the shortest time between two checks: several files often change together. */
const afterChangeMs = 1_000;

export interface NodeStatusOptions {
  readonly nodeName: string;
  readonly files: HostFiles;
  readonly disks: AgentDisks;
  readonly caches: DiskAgentCaches;
  readonly heartbeat: Pick<Heartbeat, 'leaseName' | 'isExpired'>;
  /** Where the agent takes uploads. */
  readonly upload: () => StorageNodeStatus['upload'];
}

/** Writes the status of the agent's own StorageNode, if it has changed. The key is the name of the node. */
export class NodeStatus {
  readonly #context: ControllerContext;
  readonly #options: NodeStatusOptions;
  readonly #queue: WorkQueue;
  /** Orphans of the last look, by disk: an object that a cache does not have yet has no orphan. */
  #suspects: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #probedMs = Number.NEGATIVE_INFINITY;

  constructor(context: ControllerContext, options: NodeStatusOptions) {
    this.#context = context;
    this.#options = options;
    this.#queue = new WorkQueue(context);
  }

  /** The time since the disks were last checked; undefined before the first time. */
  get probeAgeMs(): number | undefined {
    const ageMs = this.#context.clock.monotonicMs() - this.#probedMs;
    return Number.isFinite(ageMs) ? ageMs : undefined;
  }

  /** Files have changed. */
  wake(): void {
    this.#queue.addAfter(this.#options.nodeName, afterChangeMs);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeName, caches } = this.#options;
    const note = ({ metadata }: Pick<StorageNode, 'metadata'>) => {
      const sinceMs = this.#context.clock.monotonicMs() - this.#probedMs;
      if (metadata?.name === nodeName) this.#queue.addAfter(nodeName, afterChangeMs - sinceMs);
    };
    const loop = {
      controller: 'disk-agent',
      caches: [caches.nodes, caches.replicas, caches.images],
      listen: () => [caches.nodes.addHandler({ added: note, updated: note })],
      queue: this.#queue,
      reconcile: () => this.#reconcile(signal),
      workers: 1,
    };
    await runLoop(this.#context, loop, signal);
  }

  async #reconcile(signal: AbortSignal): Promise<Requeue | undefined> {
    const { nodeName, disks, heartbeat } = this.#options;
    const client = this.#context.cluster.resource(storageNodes);
    // A live read: the write depends on the figures and the UUIDs that were reported last.
    const node = await undefinedIfNotFound(client.get({ name: nodeName }, { signal }));
    if (node === undefined || node.metadata?.deletionTimestamp) return undefined;
    this.#probedMs = this.#context.clock.monotonicMs();
    const probes = await disks.probe(node);
    const usages = await this.#usages(probes);
    const place = await this.#place(signal);
    const now = formatTimestamp(this.#context.clock.nowMs());
    const upload = this.#options.upload();
    const agentLease = heartbeat.leaseName;
    const status = reportedStatus(node, { probes, usages, place, upload, agentLease }, now);
    this.#reportOrphans(node, status);
    const stale = await retryIfStale(async () => {
      // Others find that the agent has ended, and say so in the status: it must not be written against them until the Lease is renewed.
      if (heartbeat.isExpired || isDeepStrictEqual(status, node.status)) return;
      await client.update({ ...node, status }, { subresource: 'status', signal });
    });
    return stale ?? { afterMs: probeEveryMs };
  }

  async #usages(probes: ReadonlyMap<string, DiskProbe>): Promise<ReadonlyMap<string, DiskUsage>> {
    const { files, disks, caches } = this.#options;
    const usages = new Map<string, DiskUsage>();
    const suspects = new Map<string, ReadonlySet<string>>();
    for (const disk of disks.all) {
      if (probes.get(disk.name)?.kind !== 'found') continue;
      const found = await diskUsage(files, disk, (kind, name, uid) =>
        kind === 'Replica'
          ? caches.replicas.get(name)?.metadata?.uid === uid &&
            caches.replicas.get(name)?.spec?.diskID === disk.uuid
          : caches.images.get(name)?.metadata?.uid === uid,
      );
      suspects.set(disk.uuid, new Set(found.orphans));
      const confirmed = found.orphans.filter((each) => this.#suspects.get(disk.uuid)?.has(each));
      if (confirmed.length < found.orphans.length) this.wake();
      usages.set(disk.name, { ...found, orphans: confirmed });
    }
    this.#suspects = suspects;
    return usages;
  }

  /** Undefined if there is no such Node, or this program may not read it: then the place stays what it was. */
  async #place(signal: AbortSignal): Promise<Pick<StorageNodeStatus, 'region' | 'zone'> | undefined> {
    try {
      const name = this.#options.nodeName;
      const { metadata } = await this.#context.cluster.resource(nodes).get({ name }, { signal });
      const region = metadata?.labels?.[labels.region];
      const zone = metadata?.labels?.[labels.zone];
      return { ...(region && { region }), ...(zone && { zone }) };
    } catch (error) {
      if (isReason(error, 'NotFound') || isReason(error, 'Forbidden')) return undefined;
      throw error;
    }
  }

  #reportOrphans(node: StorageNode, status: StorageNodeStatus): void {
    const messageIn = (each: StorageNodeStatus | undefined, name: string) =>
      each?.diskStatus?.[name]?.conditions?.find(
        (condition) => condition.type === 'OrphanedData' && condition.status === 'True',
      )?.message;
    for (const name of Object.keys(status.diskStatus ?? {})) {
      const message = messageIn(status, name);
      if (message === undefined || message === messageIn(node.status, name)) continue;
      this.#context.events.record({
        regarding: referenceTo(node, { apiVersion: apiVersionOf(storageNodes), kind: 'StorageNode' }),
        type: 'Warning',
        reason: 'OrphanedData',
        action: 'KeepData',
        note: `Disk ${name}: ${message}`,
      });
    }
  }
}
