import { CsiCallError } from '../../../../csi/csi-errors.ts';
import { isLess, storageOf } from '../../../../engine/expansion/decide-expansion.ts';
import { awaitsNodeResize, resizeFinishedStatus } from '../../../../engine/expansion/resize-status.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../kube/api/core.ts';
import { isReason } from '../../../../kube/api-error.ts';
import { setCondition } from '../../../../kube/conditions.ts';
import { formatTimestamp } from '../../../../kube/go/timestamp.ts';
import { parseQuantity, quantityToBytes } from '../../../../kube/quantities/quantity.ts';
import { persistentVolumeClaims } from '../../../../kube/resources.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { referenceTo } from '../../../../reconcile/event-recorder.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import { grpcErrorText } from './mount-problem.ts';
import type { VolumeOperations } from './volume-operations.ts';
import type { VolumeRequest } from './volume-request.ts';

export interface ClaimExpansionsOptions {
  readonly context: ControllerContext;
  readonly caches: AgentCaches;
  readonly operations: VolumeOperations;
}

/**
 * The node's part of an expansion: NodeExpandVolume after the volume is published, before the pod starts or while it runs. The claim's
 * status says NodeResizeInProgress before the call, and has the new size after it; a crash between them repeats the call, which CSI
 * allows. Every write carries the version that was read.
 */
export class ClaimExpansions {
  readonly #options: ClaimExpansionsOptions;
  /** Keys of claims whose volume cannot grow now: pods run with the old size. */
  readonly #refused = new Set<string>();
  /** Versions of claims whose volume has grown, which the cache may still have. */
  readonly #outdated = new Map<string, readonly (string | undefined)[]>();

  constructor(options: ClaimExpansionsOptions) {
    this.#options = options;
  }

  /** Whether the claim waits for its node. A read-only file system cannot grow. */
  isPending({ source, isReadOnly }: VolumeRequest): boolean {
    if (source.kind !== 'persistent' || isReadOnly) return false;
    const claim = this.#options.caches.claims.get(source.claimKey);
    if (this.#outdated.get(source.claimKey)?.includes(claim?.metadata?.resourceVersion)) return false;
    return pendingExpansion(claim, source.volume) !== undefined;
  }

  /** Whether the pod has to wait for it. */
  isBlocking(request: VolumeRequest): boolean {
    const { source } = request;
    return source.kind === 'persistent' && !this.#refused.has(source.claimKey) && this.isPending(request);
  }

  /** No pod uses the volume any more. */
  forget({ source }: VolumeRequest): void {
    if (source.kind !== 'persistent') return;
    this.#refused.delete(source.claimKey);
    this.#outdated.delete(source.claimKey);
  }

  /** Rejects if the plugin failed, and has to be called again. */
  async expand(request: VolumeRequest, signal: AbortSignal): Promise<void> {
    const { source } = request;
    if (source.kind !== 'persistent' || !this.isPending(request)) return;
    const claim = this.#options.caches.claims.get(source.claimKey);
    const sizeBytes = pendingExpansion(claim, source.volume);
    if (claim === undefined || sizeBytes === undefined) return;
    try {
      const started = await this.#start(claim, signal);
      await this.#call(request, sizeBytes, started, signal);
      await this.#finish(request, started, signal);
      const versions = [claim, started].map(({ metadata }) => metadata?.resourceVersion);
      this.#outdated.set(source.claimKey, versions);
      this.#refused.delete(source.claimKey);
    } catch (error) {
      // The claim has changed; its event leads here again.
      if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
    }
  }

  async #call(
    request: VolumeRequest,
    sizeBytes: bigint,
    claim: PersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#options.operations.expand(request, sizeBytes, signal);
    } catch (error) {
      if (isInfeasible(error)) await this.#giveUp(claim, error, signal);
      if (isInfeasible(error) || isInUse(error))
        this.#refused.add(`${claim.metadata?.namespace}/${claim.metadata?.name}`);
      const why = `Expander.NodeExpand failed to expand the volume : ${grpcErrorText(error)}`;
      throw new Error(`NodeExpandVolume.NodeExpandVolume failed for volume "${request.specName}" : ${why}`, {
        cause: error,
      });
    }
  }

  async #start(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    const storage = 'NodeResizeInProgress';
    if (claim.status?.allocatedResourceStatuses?.storage === storage) return claim;
    return await this.#write(claim, { allocatedResourceStatuses: { storage } }, signal);
  }

  async #finish(
    { pod, specName, source }: VolumeRequest,
    claim: PersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<void> {
    const size = source.kind === 'persistent' ? storageOf(source.volume.spec?.capacity) : undefined;
    await this.#write(claim, resizeFinishedStatus(claim, size ?? '0'), signal);
    const note = `MountVolume.NodeExpandVolume succeeded for volume "${specName}" ${pod.spec?.nodeName}`;
    const event = {
      type: 'Normal',
      reason: 'FileSystemResizeSuccessful',
      action: 'ExpandFileSystem',
      note,
    } as const;
    const { events } = this.#options.context;
    events.record({ regarding: referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' }), ...event });
    const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    events.record({ regarding, ...event });
  }

  /** The expander or a person can ask the node again. */
  async #giveUp(claim: PersistentVolumeClaim, problem: unknown, signal: AbortSignal): Promise<void> {
    const message = `failed to expand pvc with ${grpcErrorText(problem)}`;
    const now = formatTimestamp(this.#options.context.clock.nowMs());
    const failed = { type: 'NodeResizeError', status: 'True', message } as const;
    const conditions = setCondition(claim.status?.conditions, failed, now);
    const allocatedResourceStatuses = { storage: 'NodeResizeInfeasible' };
    await this.#write(claim, { allocatedResourceStatuses, conditions }, signal);
  }

  /** To the version that was read. */
  async #write(
    claim: PersistentVolumeClaim,
    status: object,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '', uid, resourceVersion } = claim.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status };
    const client = this.#options.context.cluster.resource(persistentVolumeClaims);
    return await client.patch(
      { namespace, name },
      { type: 'merge', body },
      { subresource: 'status', signal },
    );
  }
}

/** The size in bytes that the volume's file system must grow to; undefined if the claim does not wait for its node. */
function pendingExpansion(
  claim: PersistentVolumeClaim | undefined,
  volume: PersistentVolume,
): bigint | undefined {
  const size = storageOf(volume.spec?.capacity);
  if (claim === undefined || size === undefined || !awaitsNodeResize(claim)) return undefined;
  if (!isLess(storageOf(claim.status?.capacity) ?? '0', size)) return undefined;
  const parsed = parseQuantity(size);
  return parsed.ok ? quantityToBytes(parsed.quantity) : undefined;
}

/** A kubelet does not retry after these errors: it waits until the expander or a user has acted. */
function isInfeasible(error: unknown): boolean {
  return error instanceof CsiCallError && ['InvalidArgument', 'OutOfRange', 'NotFound'].includes(error.code);
}

/** The plugin cannot expand a volume that is in use; the pod runs with the old size. */
function isInUse(error: unknown): boolean {
  return error instanceof CsiCallError && error.code === 'FailedPrecondition';
}
