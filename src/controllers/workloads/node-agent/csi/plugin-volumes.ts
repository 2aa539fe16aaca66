import type { Pod } from '../../../../kube/api/core.ts';
import type { CSIDriver } from '../../../../kube/api/storage.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { referenceTo } from '../../../../reconcile/event-recorder.ts';
import type { Requeue } from '../../../../reconcile/workers.ts';
import { messageOf } from '../../../../runtime/error-message.ts';
import { KeyedBackOff } from '../../../../runtime/keyed-back-off.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import type { PluginVolumeRecord, PublishedAt } from '../csi-records/volume-record.ts';
import { needsVolumes } from '../pods/pod-lifecycle.ts';
import { ClaimExpansions } from './claim-expansions.ts';
import { grpcErrorText, MountProblem } from './mount-problem.ts';
import { Republishing } from './republishing.ts';
import type { VolumeOperations } from './volume-operations.ts';
import { podOf, type VolumeRequest } from './volume-request.ts';

export interface PluginVolumesOptions {
  readonly context: ControllerContext;
  readonly caches: AgentCaches;
  readonly operations: VolumeOperations;
  /** The pod may start, or be removed. */
  readonly wakePod: (podKey: string) => void;
  /** The node's status may have to change. */
  readonly reportNode: () => void;
}

/** The delays of a kubelet between attempts of an operation on a volume. */
const retryDelay = { initialMs: 500, maxMs: 122_000 };

/**
 * Brings the volumes of one node plugin to the state that pods need, one volume at a time: volumes of pods that have ended are unpublished,
 * a volume is staged once and published for each pod that waits for it, and unstaged after the last one. Steps that failed wait for their
 * back-off, and do not hold up steps for other pods.
 */
export class PluginVolumes {
  readonly #options: PluginVolumesOptions;
  readonly #backOff: KeyedBackOff;
  readonly #expansions: ClaimExpansions;
  readonly #republishing: Republishing;
  /** The requests of pods, by volume handle and uid of the pod. */
  readonly #requests = new Map<string, Map<string, VolumeRequest>>();

  constructor(options: PluginVolumesOptions) {
    this.#options = options;
    this.#backOff = new KeyedBackOff(options.context.clock, retryDelay);
    this.#expansions = new ClaimExpansions(options);
    const { caches, context } = options;
    this.#republishing = new Republishing(context.clock, (driver) => caches.drivers.get(driver));
  }

  /** Notes that the pod needs the volume; true if it has it already, at its full size. */
  request(request: VolumeRequest): boolean {
    const { volumeHandle } = request;
    const { uid } = podOf(request);
    const ofVolume = this.#requests.get(volumeHandle) ?? new Map<string, VolumeRequest>();
    this.#requests.set(volumeHandle, ofVolume.set(uid, request));
    const isPublished = this.#options.operations.record(volumeHandle)?.pods[uid]?.isDone === true;
    return isPublished && !this.#expansions.isBlocking(request);
  }

  /** Whether the volume has to grow on the node, or has to be published again from time to time. */
  isToReconcile(request: VolumeRequest): boolean {
    return this.#expansions.isPending(request) || this.#republishing.isNew(request);
  }

  /** Handles of the volumes that the pod has asked for. */
  requestedBy(podUid: string): readonly string[] {
    return [...this.#requests].flatMap(([handle, ofVolume]) => (ofVolume.has(podUid) ? [handle] : []));
  }

  async reconcile(volumeHandle: string, signal: AbortSignal): Promise<Requeue | undefined> {
    this.#forgetEnded(volumeHandle);
    const delays = [
      ...(await this.#unpublishEnded(volumeHandle, signal)),
      ...(await this.#publishRequested(volumeHandle, signal)),
      ...(await this.#expandPublished(volumeHandle, signal)),
      ...(await this.#republish(volumeHandle, signal)),
      await this.#unstageUnused(volumeHandle, signal),
    ].filter((delayMs) => delayMs > 0);
    return delays.length === 0 ? undefined : { afterMs: Math.min(...delays) };
  }

  #forgetEnded(volumeHandle: string): void {
    const ofVolume = this.#requests.get(volumeHandle);
    for (const [uid, request] of ofVolume ?? []) {
      if (this.#isNeeded(uid, podOf(request))) continue;
      ofVolume?.delete(uid);
      this.#republishing.forget(request);
      this.#backOff.forget(`publish ${volumeHandle} ${uid}`);
      this.#backOff.forget(`republish ${volumeHandle} ${uid}`);
      if (ofVolume?.size === 0) this.#forgetVolume(volumeHandle, request);
    }
  }

  #forgetVolume(volumeHandle: string, request: VolumeRequest): void {
    this.#requests.delete(volumeHandle);
    this.#backOff.forget(`expand ${volumeHandle}`);
    this.#expansions.forget(request);
  }

  async #unpublishEnded(volumeHandle: string, signal: AbortSignal): Promise<readonly number[]> {
    const delays: number[] = [];
    for (const [uid, published] of Object.entries(this.#record(volumeHandle)?.pods ?? {})) {
      const record = this.#record(volumeHandle);
      if (record === undefined || this.#isNeeded(uid, published)) continue;
      const step = `unpublish ${volumeHandle} ${uid}`;
      delays.push(
        await this.#attempt(
          step,
          signal,
          async () => {
            await this.#options.operations.unpublish(record, uid, signal);
            this.#options.wakePod(`${published.namespace}/${published.name}`);
          },
          (error) => this.#reportUnmount(record, published, error),
        ),
      );
    }
    return delays;
  }

  async #publishRequested(volumeHandle: string, signal: AbortSignal): Promise<readonly number[]> {
    const delays: number[] = [];
    for (const [uid, request] of this.#requests.get(volumeHandle) ?? []) {
      // It may have ended while others were published.
      if (!this.#isNeeded(uid, podOf(request))) continue;
      delays.push(
        await this.#attempt(
          `publish ${volumeHandle} ${uid}`,
          signal,
          async () => {
            await this.#publish(request, signal);
          },
          (error) => this.#reportMount(request.pod, error),
        ),
      );
    }
    return delays;
  }

  async #publish(request: VolumeRequest, signal: AbortSignal): Promise<void> {
    const { operations, wakePod, caches } = this.#options;
    const { uid, key } = podOf(request);
    if (this.#record(request.volumeHandle)?.pods[uid]?.isDone === true) return;
    const problem = lifecycleProblem(request, caches.drivers.get(request.driver));
    if (problem !== undefined)
      throw new MountProblem('MountVolume.NewMounter initialization', request.specName, new Error(problem));
    await operations.stage(request, signal);
    await operations.publish(request, signal);
    if (!this.#expansions.isBlocking(request)) wakePod(key);
  }

  /** One pod's path is enough: the volume grows for all of them. */
  async #expandPublished(volumeHandle: string, signal: AbortSignal): Promise<readonly number[]> {
    const requests = [...(this.#requests.get(volumeHandle) ?? [])];
    const isPublished = (uid: string) => this.#record(volumeHandle)?.pods[uid]?.isDone === true;
    const [, request] =
      requests.find(([uid, one]) => isPublished(uid) && this.#expansions.isPending(one)) ?? [];
    if (request === undefined) return [];
    const step = `expand ${volumeHandle}`;
    if (this.#backOff.remainingMs(step) > 0) return [this.#backOff.remainingMs(step)];
    const delayMs = await this.#attempt(
      step,
      signal,
      () => this.#expansions.expand(request, signal),
      (error) => this.#event(request.pod, 'VolumeResizeFailed', 'ExpandFileSystem', messageOf(error)),
    );
    for (const [, one] of requests)
      if (!this.#expansions.isBlocking(one)) this.#options.wakePod(podOf(one).key);
    return [delayMs];
  }

  /** If the call fails, the pod keeps its mounts. */
  async #republish(volumeHandle: string, signal: AbortSignal): Promise<readonly number[]> {
    const delays: number[] = [];
    for (const [uid, request] of this.#requests.get(volumeHandle) ?? []) {
      const isPublished = this.#record(volumeHandle)?.pods[uid]?.isDone === true;
      if (!isPublished || !this.#republishing.isNeeded(request)) continue;
      const waitMs = this.#republishing.remainingMs(request);
      delays.push(waitMs > 0 ? waitMs : await this.#republishOne(request, signal));
    }
    return delays;
  }

  async #republishOne(request: VolumeRequest, signal: AbortSignal): Promise<number> {
    const { uid } = podOf(request);
    if (!this.#isNeeded(uid, podOf(request))) return 0;
    const failedMs = await this.#attempt(
      `republish ${request.volumeHandle} ${uid}`,
      signal,
      async () => {
        await this.#options.operations.republish(request, signal);
        this.#republishing.done(request);
      },
      (error) => this.#reportMount(request.pod, error),
    );
    return failedMs > 0 ? failedMs : this.#republishing.remainingMs(request);
  }

  async #unstageUnused(volumeHandle: string, signal: AbortSignal): Promise<number> {
    // A pod may have ended, and its volume been unpublished, while this volume was reconciled.
    this.#forgetEnded(volumeHandle);
    const record = this.#record(volumeHandle);
    if (record === undefined) {
      this.#options.reportNode();
      return 0;
    }
    if (this.#requests.has(volumeHandle) || Object.keys(record.pods).length > 0) return 0;
    return await this.#attempt(
      `unstage ${volumeHandle}`,
      signal,
      async () => {
        await this.#options.operations.unstage(record, signal);
        this.#options.reportNode();
      },
      (error) => this.#report(`unstage ${volumeHandle}`, error),
    );
  }

  /** Returns how long to wait before the next attempt; 0 after success. */
  async #attempt(
    step: string,
    signal: AbortSignal,
    work: () => Promise<void>,
    onFailure: (error: unknown) => void,
  ): Promise<number> {
    const waitMs = this.#backOff.remainingMs(step);
    if (waitMs > 0) return waitMs;
    try {
      await work();
      this.#backOff.forget(step);
      return 0;
    } catch (error) {
      if (signal.aborted) throw error;
      onFailure(error);
      return this.#backOff.failed(step);
    }
  }

  /** The pod may have been deleted and created again with the same name. */
  #isNeeded(uid: string, { namespace, name }: Pick<PublishedAt, 'namespace' | 'name'>): boolean {
    const pod = this.#options.caches.pods.get(`${namespace}/${name}`);
    return pod !== undefined && pod.metadata?.uid === uid && needsVolumes(pod);
  }

  #record(volumeHandle: string): PluginVolumeRecord | undefined {
    return this.#options.operations.record(volumeHandle);
  }

  #reportMount(pod: Pod, error: unknown): void {
    const note = error instanceof MountProblem ? error.message : grpcErrorText(error);
    this.#event(pod, 'FailedMount', 'StartPod', note);
    if (!(error instanceof MountProblem)) this.#report(`pod ${pod.metadata?.name}`, error);
  }

  #reportUnmount({ specName }: PluginVolumeRecord, { namespace, name }: PublishedAt, error: unknown): void {
    const pod = this.#options.caches.pods.get(`${namespace}/${name}`);
    const note = `UnmountVolume.TearDown failed for volume "${specName}" : kubernetes.io/csi: Unmounter.TearDownAt failed: ${grpcErrorText(error)}`;
    if (pod !== undefined) this.#event(pod, 'FailedUnMount', 'StopPod', note);
    this.#report(`pod ${namespace}/${name}`, error);
  }

  #event(pod: Pod, reason: string, action: string, note: string): void {
    const regarding = referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' });
    this.#options.context.events.record({ regarding, type: 'Warning', reason, action, note });
  }

  #report(key: string, error: unknown): void {
    this.#options.context.report({ controller: 'node-agent', key, error });
  }
}

/** Why the driver does not serve such volumes, in a kubelet's words. */
function lifecycleProblem(
  { source, driver }: VolumeRequest,
  csiDriver: CSIDriver | undefined,
): string | undefined {
  const mode = source.kind === 'inline' ? 'Ephemeral' : 'Persistent';
  const unsupported = `volume mode "${mode}" not supported by driver ${driver}`;
  if (csiDriver === undefined)
    return mode === 'Ephemeral' ? `${unsupported} (no CSIDriver object)` : undefined;
  const modes = csiDriver.spec?.volumeLifecycleModes ?? ['Persistent'];
  if (modes.length === 0 ? mode === 'Persistent' : modes.includes(mode)) return undefined;
  return `${unsupported} (only supports [${modes.map((one) => `"${one}"`).join(' ')}])`;
}
