import { decideExpansion, isSame, storageOf } from '../../../engine/expansion/decide-expansion.ts';
import {
  hasResizeStarted,
  nodeExpansionNotRequired,
  nodeResizePendingStatus,
  type ResizePatch,
  resizeFailedStatus,
  resizeFinishedStatus,
  resizeInfeasibleStatus,
  resizerAnnotation,
  resizeStartedStatus,
} from '../../../engine/expansion/resize-status.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { KeyedBackOff } from '../../../runtime/keyed-back-off.ts';
import { driverRetryDelay } from '../driver-retry-delay.ts';
import type { Expansion, Resizer } from './resizer.ts';

export interface Expandable {
  /** Both were just read from the server, not from a cache. */
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly resizer: Resizer | undefined;
}

interface Expansible extends Expandable {
  readonly resizer: Resizer;
}

export interface ExpansionHooks {
  /** Called before each write. */
  readonly onWrite: () => void;
  /** Whether a pod uses the claim. */
  readonly isUsed: (claim: PersistentVolumeClaim) => boolean;
  /** Receives errors of attempts that will be repeated. */
  readonly onError: (claim: PersistentVolumeClaim, error: unknown) => void;
}

/** Executes expansion steps, one claim at a time. Every write carries the version that was read. */
export class Expansions {
  readonly #context: ControllerContext;
  readonly #hooks: ExpansionHooks;
  readonly #backOff: KeyedBackOff;
  /** Claims whose last attempt ended without effect. Lost by a restart: then the recorded size is completed. */
  readonly #failed = new Set<string>();
  /** Claims whose volumes could not be expanded while pods use them. */
  readonly #inUse = new Set<string>();

  constructor(context: ControllerContext, hooks: ExpansionHooks) {
    this.#context = context;
    this.#hooks = hooks;
    this.#backOff = new KeyedBackOff(context.clock, driverRetryDelay);
  }

  forget(key: string): void {
    this.#backOff.forget(key);
    this.#failed.delete(key);
    this.#inUse.delete(key);
  }

  /** Whether the queue will repeat a failed attempt. */
  isDelayed(key: string): boolean {
    return this.#backOff.failures(key) > 0;
  }

  /** Whether the claim waits for the pods that use it. */
  awaitsRelease(key: string): boolean {
    return this.#inUse.has(key);
  }

  async step(expandable: Expandable, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, volume, resizer } = expandable;
    const facts = {
      hasResizer: resizer !== undefined,
      hasFailed: this.#failed.has(keyOf(claim)),
      isNodeOnly: resizer?.isNodeOnly,
    };
    const step = decideExpansion(claim, volume, facts);
    switch (step.kind) {
      case 'nothing':
        return undefined;
      case 'external':
        this.#recordEvent(claim, 'Normal', 'ExternalExpanding', step.note);
        if (step.resizer !== undefined) await this.#nameResizer(claim, step.resizer, signal);
        return undefined;
      case 'expand':
      case 'retry-later':
        return await this.#expandIfDue(expandable, step.size, signal);
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

  async #expandIfDue(
    expandable: Expandable,
    size: string,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { claim, volume, resizer } = expandable;
    const afterMs = this.#backOff.remainingMs(keyOf(claim), size);
    if (afterMs > 0) return { afterMs };
    if (resizer === undefined) return undefined;
    const begun = await this.#begin(claim, resizer, size, signal);
    return await this.#attempt({ claim: begun, volume, resizer }, size, signal);
  }

  async #attempt(expandable: Expansible, size: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, volume, resizer } = expandable;
    if (this.#isHeldByPods(claim, volume)) return undefined;
    // The resizers of CSI drivers report the start; Kubernetes' own, for other volumes, only reports the end.
    const started = `External resizer is resizing volume ${volume.metadata?.name}`;
    if (isOfDriver(volume)) this.#recordEvent(claim, 'Normal', 'Resizing', started);
    this.#inUse.delete(keyOf(claim));
    const expansion = await this.#try(claim, () => resizer.expand(volume, size, signal), signal);
    // An aborted call says nothing, and nothing can be written any more.
    if (signal.aborted) return undefined;
    switch (expansion.kind) {
      case 'expanded':
        this.forget(keyOf(claim));
        await this.#finish(expandable, expansion, signal);
        return undefined;
      case 'infeasible':
        return await this.#refuse(expandable, expansion.message, { size, signal });
      case 'failed':
      case 'unknown':
        return await this.#retryLater(expandable, expansion, { size, signal });
      default:
        return unreachable(expansion);
    }
  }

  /** Drivers that cannot expand volumes in use say so once; then the claim waits for its pods, whose end wakes it. */
  #isHeldByPods(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
    if (!this.#inUse.has(keyOf(claim)) || !this.#hooks.isUsed(claim)) return false;
    const note = `Unable to expand ${keyOf(claim)} because CSI driver ${volume.spec?.csi?.driver} only supports offline expansion and volume is currently in-use`;
    this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', note);
    return true;
  }

  async #refuse(
    { claim, volume }: Expansible,
    why: string,
    { size, signal }: { readonly size: string; readonly signal: AbortSignal },
  ): Promise<Requeue> {
    const afterMs = this.#backOff.failed(keyOf(claim), size, { isFutile: true });
    this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', failureNote(claim, volume, why));
    await this.#patchClaim(claim, resizeInfeasibleStatus(claim, why, this.#nowMs()), signal);
    return { afterMs };
  }

  /** A failure without effect is recorded on the claim, and another size may be tried. After an unknown outcome the same size follows. */
  async #retryLater(
    { claim, volume }: Expansible,
    expansion: Extract<Expansion, { readonly kind: 'failed' | 'unknown' }>,
    { size, signal }: { readonly size: string; readonly signal: AbortSignal },
  ): Promise<Requeue> {
    const key = keyOf(claim);
    const why = messageOf(expansion.error);
    const afterMs = this.#backOff.failed(key, size);
    this.#hooks.onError(claim, expansion.error);
    this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', failureNote(claim, volume, why));
    if (expansion.kind === 'unknown') {
      this.#failed.delete(key);
      return { afterMs };
    }
    this.#failed.add(key);
    if (expansion.isInUse) this.#inUse.add(key);
    await this.#patchClaim(claim, resizeFailedStatus(claim, why, this.#nowMs()), signal);
    return { afterMs };
  }

  async #begin(
    claim: PersistentVolumeClaim,
    resizer: Resizer,
    size: string,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    if (hasResizeStarted(claim, size)) return claim;
    const marks = resizer.name === undefined ? {} : { [resizerAnnotation]: resizer.name };
    const started = resizeStartedStatus(claim, size, this.#nowMs());
    return await this.#patchClaim(claim, started, signal, { ...marks, ...withoutNodeMark(claim) });
  }

  async #finish(
    { claim, volume }: Expansible,
    { size, needsNode }: Extract<Expansion, { readonly kind: 'expanded' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const change = grown(claim, volume, { size, needsNode, nowMs: this.#nowMs() });
    if (change !== undefined) await this.#patchVolume(volume, change, signal);
    if (needsNode) {
      const pending = nodeResizePendingStatus(claim, this.#nowMs());
      await this.#patchClaim(claim, pending, signal, withoutNodeMark(claim));
      const note = 'Require file system resize of volume on node';
      this.#recordEvent(claim, 'Normal', 'FileSystemResizeRequired', note);
      return;
    }
    const marks = isOfDriver(volume) ? { [nodeExpansionNotRequired]: 'true' } : {};
    await this.#patchClaim(claim, resizeFinishedStatus(claim, size), signal, marks);
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
      const note = `error expanding pvc "${keyOf(claim)}": ${why}`;
      if (!signal.aborted) this.#recordEvent(claim, 'Warning', 'VolumeResizeFailed', note);
      throw error;
    }
  }

  async #patchClaim(
    { metadata }: PersistentVolumeClaim,
    status: ResizePatch | undefined,
    signal: AbortSignal,
    marks: Readonly<Record<string, string | null>> = {},
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '', uid, resourceVersion } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion, annotations: marks }, ...(status && { status }) };
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    this.#hooks.onWrite();
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
    this.#hooks.onWrite();
    await this.#context.cluster
      .resource(persistentVolumes)
      .patch({ name }, { type: 'merge', body }, { signal });
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

/**
 * The new size and, while the node has to act, the size that the claim had before, in case the claim is deleted meanwhile. Undefined if the
 * volume has both already. For a volume of a driver also when it had grown and from which size: until a figure of its pool includes the growth, a
 * scheduler reserves it, also after a restart. The time is taken after the driver has answered, so it is not too early; a repeated write
 * finds the new size and keeps the first time.
 */
function grown(
  { status }: PersistentVolumeClaim,
  { metadata, spec }: PersistentVolume,
  { size, needsNode, nowMs }: { readonly size: string; readonly needsNode: boolean; readonly nowMs: number },
): VolumeChange | undefined {
  const key = annotations.preResizeCapacity;
  const isRecorded = !needsNode || metadata?.annotations?.[key] !== undefined;
  if (isRecorded && isSame(storageOf(spec?.capacity), size)) return undefined;
  const before = storageOf(spec?.capacity);
  const hasGrown = spec?.csi !== undefined && !isSame(before, size);
  const marks = {
    ...(!isRecorded && { [key]: storageOf(status?.capacity) ?? '0' }),
    ...(hasGrown && {
      [annotations.volumeExpandedAt]: new Date(nowMs).toISOString(),
      [annotations.volumeExpandedFrom]: before ?? '0',
    }),
  };
  return { spec: { capacity: { storage: size } }, metadata: { annotations: marks } };
}

function withoutNodeMark({ metadata }: PersistentVolumeClaim): Readonly<Record<string, null>> {
  const isMarked = metadata?.annotations?.[nodeExpansionNotRequired] !== undefined;
  return isMarked ? { [nodeExpansionNotRequired]: null } : {};
}

function isOfDriver({ spec }: PersistentVolume): boolean {
  return spec?.csi !== undefined;
}

/** Uses the message of external-resizer for volumes of CSI drivers, and that of kube-controller-manager for others. */
function failureNote(
  claim: PersistentVolumeClaim,
  { metadata, spec }: PersistentVolume,
  why: string,
): string {
  if (spec?.csi === undefined) return `error expanding pvc "${keyOf(claim)}": ${why}`;
  return `resize volume "${metadata?.name}" by resizer "${spec.csi.driver}" failed: ${why}`;
}
