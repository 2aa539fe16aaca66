import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { decideExpansion, isLess, storageOf } from './decide-expansion.ts';
import {
  hasResizeStarted,
  nodeResizePendingStatus,
  type ResizePatch,
  resizeFinishedStatus,
  resizeInfeasibleStatus,
  resizerAnnotation,
  resizeStartedStatus,
} from './resize-status.ts';
import type { Resizer } from './resizer.ts';

/** An infeasible size is retried after this long: capacity may have been freed. */
const infeasibleRetryMs = 5 * 60_000;

export interface Expandable {
  /** Both were just read from the server, not from a cache. */
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly resizer: Resizer | undefined;
}

/** Executes expansion steps, one claim at a time. Every write carries the version that was read. */
export class Expansions {
  readonly #context: ControllerContext;
  readonly #onWrite: () => void;
  /** When each claim's size was last found infeasible, on the monotonic clock. Losing it costs one attempt. */
  readonly #refusedMs = new Map<string, number>();

  /** `onWrite` is called before each write. */
  constructor(context: ControllerContext, onWrite: () => void) {
    this.#context = context;
    this.#onWrite = onWrite;
  }

  forget(key: string): void {
    this.#refusedMs.delete(key);
  }

  async step(expandable: Expandable, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, volume, resizer } = expandable;
    const step = decideExpansion(claim, volume, resizer !== undefined);
    switch (step.kind) {
      case 'nothing':
        return undefined;
      case 'external':
        this.#recordEvent(claim, 'Normal', 'ExternalExpanding', step.note);
        if (step.resizer !== undefined) await this.#nameResizer(claim, step.resizer, signal);
        return undefined;
      case 'expand':
        return await this.#expand(expandable, step.size, signal);
      case 'retry-later':
        return this.#waitMs(claim) > 0
          ? { afterMs: this.#waitMs(claim) }
          : await this.#expand(expandable, step.size, signal);
      case 'ask-node':
        await this.#patchClaim(claim, nodeResizePendingStatus(claim, this.#nowMs()), signal);
        return undefined;
      case 'forget-old-size':
        await this.#patchVolume(
          volume,
          { metadata: { annotations: { [annotations.preResizeCapacity]: null } } },
          signal,
        );
        return undefined;
      default:
        return unreachable(step);
    }
  }

  async #nameResizer(claim: PersistentVolumeClaim, resizer: string, signal: AbortSignal): Promise<void> {
    if (claim.metadata?.annotations?.[resizerAnnotation] === resizer) return;
    await this.#patchClaim(claim, undefined, signal, { [resizerAnnotation]: resizer });
  }

  async #expand(expandable: Expandable, size: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { volume, resizer } = expandable;
    if (resizer === undefined) return undefined;
    const claim = await this.#begin(expandable.claim, resizer, size, signal);
    // The resizers of CSI drivers report the start; Kubernetes' own, for other volumes, only reports the end.
    if (isOfDriver(volume))
      this.#recordEvent(
        claim,
        'Normal',
        'Resizing',
        `External resizer is resizing volume ${volume.metadata?.name}`,
      );
    const expansion = await this.#try(claim, () => resizer.expand(volume, size, signal), signal);
    if (expansion.kind === 'infeasible') {
      this.#refusedMs.set(keyOf(claim), this.#context.clock.monotonicMs());
      this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', failureNote(claim, expansion.message));
      await this.#patchClaim(claim, resizeInfeasibleStatus(claim, expansion.message, this.#nowMs()), signal);
      return { afterMs: infeasibleRetryMs };
    }
    this.forget(keyOf(claim));
    const needsNode = resizer.needsNode && volumeModeOf(volume) === 'Filesystem';
    if (isLess(storageOf(volume.spec?.capacity) ?? '0', size))
      await this.#patchVolume(volume, grown(claim, volume, { size, needsNode }), signal);
    await this.#end({ claim, volume, resizer }, size, needsNode, signal);
    return undefined;
  }

  async #begin(
    claim: PersistentVolumeClaim,
    resizer: Resizer,
    size: string,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    if (hasResizeStarted(claim, size)) return claim;
    const marks = { [resizerAnnotation]: resizer.name };
    return await this.#patchClaim(claim, resizeStartedStatus(claim, size, this.#nowMs()), signal, marks);
  }

  async #end(
    { claim, volume }: Expandable,
    size: string,
    needsNode: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    if (needsNode) {
      await this.#patchClaim(claim, nodeResizePendingStatus(claim, this.#nowMs()), signal);
      this.#recordEvent(
        claim,
        'Normal',
        'FileSystemResizeRequired',
        'Require file system resize of volume on node',
      );
      return;
    }
    await this.#patchClaim(claim, resizeFinishedStatus(claim, size), signal);
    const note = isOfDriver(volume)
      ? 'Resize volume succeeded'
      : `ExpandVolume succeeded for volume ${keyOf(claim)}`;
    this.#recordEvent(claim, 'Normal', 'VolumeResizeSuccessful', note);
  }

  /** An exception is recorded as an Event, and the same size is retried. */
  async #try<T>(claim: PersistentVolumeClaim, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const why = messageOf(error);
      if (!signal.aborted) this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', failureNote(claim, why));
      throw error;
    }
  }

  async #patchClaim(
    { metadata }: PersistentVolumeClaim,
    status: ResizePatch | undefined,
    signal: AbortSignal,
    marks: Readonly<Record<string, string>> = {},
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '', uid, resourceVersion } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion, annotations: marks }, ...(status && { status }) };
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    this.#onWrite();
    return await client.patch(
      { namespace, name },
      { type: 'merge', body },
      { subresource: 'status', signal },
    );
  }

  async #patchVolume(
    { metadata }: PersistentVolume,
    change: VolumeChange,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata ?? {};
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    this.#onWrite();
    await this.#context.cluster
      .resource(persistentVolumes)
      .patch({ name }, { type: 'merge', body }, { signal });
  }

  #waitMs(claim: PersistentVolumeClaim): number {
    const refusedMs = this.#refusedMs.get(keyOf(claim));
    if (refusedMs === undefined) return 0;
    return refusedMs + infeasibleRetryMs - this.#context.clock.monotonicMs();
  }

  #nowMs(): number {
    return this.#context.clock.nowMs();
  }

  #recordEvent(claim: PersistentVolumeClaim, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    this.#context.events.record({ regarding, type, reason, action: 'ExpandVolume', note });
  }
}

interface VolumeChange {
  readonly metadata?: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec?: { readonly capacity: { readonly storage: string } };
}

/** The new size and, while the node has to act, the size that the claim had before, in case the claim is deleted meanwhile. */
function grown(
  { status }: PersistentVolumeClaim,
  { metadata }: PersistentVolume,
  { size, needsNode }: { readonly size: string; readonly needsNode: boolean },
): VolumeChange {
  const spec = { capacity: { storage: size } };
  const key = annotations.preResizeCapacity;
  const before = metadata?.annotations?.[key] ?? storageOf(status?.capacity) ?? '0';
  return needsNode ? { spec, metadata: { annotations: { [key]: before } } } : { spec };
}

function isOfDriver({ spec }: PersistentVolume): boolean {
  return spec?.csi !== undefined;
}

function failureNote(claim: PersistentVolumeClaim, why: string): string {
  return `error expanding pvc "${keyOf(claim)}": ${why}`;
}
