import { isReason } from '../../../kube/api-error.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { claimUidKey, type DiskVolume, diskVolumes } from '../../../kube/stowage/volume.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { DiskVolumeWait } from '../../disk-volume-wait.ts';

/** How long one attempt waits for the removal of replicas; an agent may be away. After it the removal is tried again. */
const attemptMs = 10_000;

/**
 * Deletes Volumes in the foreground: the garbage collector deletes their replicas, and a Volume is removed when all of them are deleted with their data and
 * their bytes.
 */
export class DiskVolumeRemoval {
  readonly #context: Pick<ControllerContext, 'cluster'>;
  readonly #wait: DiskVolumeWait;

  constructor(context: Pick<ControllerContext, 'cluster'>, wait: DiskVolumeWait) {
    this.#context = context;
    this.#wait = wait;
  }

  /** Resolves when the Volume and its replicas are deleted. */
  async remove(name: string, claimUid: string, signal: AbortSignal): Promise<void> {
    const look = async (volume: DiskVolume | undefined) => {
      if (volume === undefined) return await this.#hasNoReplicas(name, signal);
      const { uid, deletionTimestamp, annotations } = volume.metadata ?? {};
      if (annotations?.[claimUidKey] !== claimUid)
        throw new Error(`Volume ${name} was not made for this claim; delete it by hand if it is not needed`);
      // The uid is enough: whatever else has changed, the claim needs the Volume no more.
      if (deletionTimestamp === undefined) await this.#delete(name, { ...(uid && { uid }) }, signal);
      return undefined;
    };
    await this.#wait.until(name, { maxMs: attemptMs, look, timeoutText: remainsText }, signal);
  }

  /** Deletes the Volume in the version that was read, and waits as `remove` does. False if it has changed meanwhile. */
  async removeVersion({ metadata }: DiskVolume, signal: AbortSignal): Promise<boolean> {
    const { name = '', uid, resourceVersion, annotations } = metadata ?? {};
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    if (!(await this.#delete(name, preconditions, signal))) return false;
    await this.remove(name, annotations?.[claimUidKey] ?? '', signal);
    return true;
  }

  /** False if the preconditions were not met. */
  async #delete(
    name: string,
    preconditions: { readonly uid?: string; readonly resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await this.#context.cluster
        .resource(diskVolumes)
        .delete({ name }, { preconditions, propagationPolicy: 'Foreground', signal });
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return true;
      if (isReason(error, 'Conflict')) return false;
      throw error;
    }
  }

  /** A Volume that another client deleted in the background may be gone before its replicas. */
  async #hasNoReplicas(volume: string, signal: AbortSignal): Promise<true> {
    const { items } = await this.#context.cluster
      .resource(replicas)
      .list({ fieldSelector: `spec.volumeName=${volume}`, signal });
    const [left] = items;
    if (left === undefined) return true;
    const { name } = left.metadata ?? {};
    throw new Error(`replica ${name} of Volume ${volume} is still on disk ${left.spec?.diskID ?? 'none'}`);
  }
}

function remainsText(volume: DiskVolume | undefined): string {
  const { name, finalizers = [] } = volume?.metadata ?? {};
  const wait = `Volume ${name} is being deleted, and still has ${finalizers.join(', ')}`;
  return `${wait}; its replicas go when the agents of their nodes have removed them and the garbage collector runs`;
}
