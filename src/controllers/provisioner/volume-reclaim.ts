import type { ResourceClient } from '../../cluster/cluster.ts';
import { CsiError } from '../../csi/csi-errors.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { annotations, finalizers } from '../../kube/well-known.ts';
import { lookUp } from '../../kube/wire.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { assetOf, type Provisioner, type Provisioners } from './provisioner.ts';
import { RetryDelays } from './retry-delays.ts';

const finalizer = finalizers.externalProvisioner;

/**
 * Reclaims one volume of ours, from released to gone. Its writes, and the state after a crash behind each:
 *
 * 1. the object is deleted in the version that was read; the finalizer keeps it. A user who changed the policy before that
 *    keeps the volume, and no claim can be bound to it afterwards;
 * 2. the asset is removed: removing it again finds nothing;
 * 3. the finalizer is removed, and the object with it.
 */
export class VolumeReclaim {
  readonly #context: ControllerContext;
  readonly #provisioners: Provisioners;
  readonly #volumes: ResourceClient<PersistentVolume>;
  readonly #owns: (volume: PersistentVolume) => boolean;
  readonly #delays: RetryDelays;

  /** `owns`: whether the driver of this process has to delete the volume. */
  constructor(
    context: ControllerContext,
    provisioners: Provisioners,
    owns: (volume: PersistentVolume) => boolean = () => true,
  ) {
    this.#owns = owns;
    this.#context = context;
    this.#delays = new RetryDelays(context.clock);
    this.#provisioners = provisioners;
    this.#volumes = context.cluster.resource(persistentVolumes);
  }

  async reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const volume = await undefinedIfNotFound(this.#volumes.get({ name }, { signal }));
    if (volume === undefined) this.#delays.forget(name);
    const creator = lookUp(volume?.metadata?.annotations, annotations.provisionedBy) ?? '';
    const provisioner = this.#provisioners.get(creator);
    if (volume === undefined || provisioner === undefined || !this.#owns(volume)) return undefined;
    if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') {
      // The administrator keeps the asset: the object may be removed without it.
      if (isHeld(volume)) await removeFinalizer(this.#volumes, volume, finalizer, signal);
      return undefined;
    }
    if (!(provisioner.isCreatorOf?.(volume) ?? isNamedAfterClaim(volume))) {
      if (isOver(volume))
        this.#recordEvent(volume, `${name} is not named after its claim, so ${creator} did not create it`);
      return undefined;
    }
    const held = await this.#addFinalizer(volume, signal);
    if (held === undefined || !isOver(held) || (await this.#isClaimed(held, signal))) return undefined;
    return await this.#end(held, provisioner, signal);
  }

  /** Returns the volume with the finalizer; undefined if another process has removed the asset first. */
  async #addFinalizer(volume: PersistentVolume, signal: AbortSignal): Promise<PersistentVolume | undefined> {
    if (isHeld(volume)) return volume;
    const {
      uid,
      resourceVersion,
      name = '',
      deletionTimestamp,
      finalizers: others = [],
    } = volume.metadata ?? {};
    if (deletionTimestamp !== undefined) return undefined;
    const body = { metadata: { uid, resourceVersion, finalizers: [...others, finalizer] } };
    return await undefinedIfNotFound(this.#volumes.patch({ name }, { type: 'merge', body }, { signal }));
  }

  /** A volume is data: its claim is read from the server, whatever the phase. */
  async #isClaimed({ metadata, spec }: PersistentVolume, signal: AbortSignal): Promise<boolean> {
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    const claims = this.#context.cluster.resource(persistentVolumeClaims);
    const claim = await undefinedIfNotFound(claims.get({ namespace, name }, { signal }));
    if (claim === undefined || claim.metadata?.uid !== uid) return false;
    return claim.spec?.volumeName === metadata?.name;
  }

  async #end(
    volume: PersistentVolume,
    provisioner: Provisioner,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { name = '', uid, resourceVersion, deletionTimestamp } = volume.metadata ?? {};
    if (deletionTimestamp === undefined) {
      const preconditions = precise(uid, resourceVersion);
      await undefinedIfNotFound(this.#volumes.delete({ name }, { preconditions, signal }));
    }
    const waiting = await this.#removeAsset(volume, provisioner, signal);
    if (waiting !== undefined) return waiting;
    const ending = await undefinedIfNotFound(this.#volumes.get({ name }, { signal }));
    if (ending === undefined || ending.metadata?.uid !== uid || !isHeld(ending)) return undefined;
    await removeFinalizer(this.#volumes, ending, finalizer, signal);
    return undefined;
  }

  /** When to try again, if the driver could not delete the volume now. */
  async #removeAsset(
    volume: PersistentVolume,
    provisioner: Provisioner,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    try {
      await provisioner.delete(assetOf(volume.spec?.claimRef?.uid ?? '', volume), signal);
      return undefined;
    } catch (error) {
      if (!signal.aborted) this.#recordEvent(volume, messageOf(error));
      if (!(error instanceof CsiError) || signal.aborted) throw error;
      return { afterMs: this.#delays.afterMs(volume.metadata?.name ?? '', error.outcome.next) };
    }
  }

  #recordEvent(volume: PersistentVolume, note: string): void {
    const regarding = referenceTo(volume, { apiVersion: 'v1', kind: 'PersistentVolume' });
    this.#context.events.record({
      regarding,
      type: 'Warning',
      reason: 'VolumeFailedDelete',
      action: 'Deleting',
      note,
    });
  }
}

function precise(uid: string | undefined, resourceVersion: string | undefined) {
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Any client that may write volumes can create one that claims to be ours; real ones have the name of their claim. */
function isNamedAfterClaim({ metadata, spec }: PersistentVolume): boolean {
  const uid = spec?.claimRef?.uid ?? '';
  return uid !== '' && metadata?.name === assetOf(uid).name;
}

function isHeld({ metadata }: PersistentVolume): boolean {
  return (metadata?.finalizers ?? []).includes(finalizer);
}

/** Released; or deleted by a user before any claim was bound to it, so that none will be. */
function isOver({ metadata, status }: PersistentVolume): boolean {
  if (status?.phase === 'Released') return true;
  const isUnused = status?.phase === undefined || ['Pending', 'Available'].includes(status.phase);
  return metadata?.deletionTimestamp !== undefined && isUnused;
}
