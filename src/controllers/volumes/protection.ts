import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { allClaimNamesOf, claimNamesOf } from '../../kube/claims-of-pod.ts';
import { keyOf, parseKey } from '../../kube/object-key.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttributesClasses,
} from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { finalizers } from '../../kube/well-known.ts';
import { servesResource } from '../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';
import { AttributesClassProtection } from './attributes-class-protection.ts';

/**
 * Keeps a deleted claim while a scheduled pod uses it, a volume while it is bound, and a VolumeAttributesClass while it is
 * named. The server adds the finalizers at creation; this controller removes them.
 *
 * Safe to run twice and to crash anywhere: its only write removes one finalizer from the version that was read.
 */
export const protectionController = defineController({
  name: 'protection',
  workers: 4,
  create: (context) => new ProtectionReconciler(context),
  beside: [
    {
      workers: 1,
      // Older clusters do not serve these classes; then there is nothing to protect.
      create: (context) =>
        servesResource(context, volumeAttributesClasses) ? new AttributesClassProtection(context) : undefined,
    },
  ],
});

/** Keys are `claim NAMESPACE/NAME` and `volume NAME`. */
class ProtectionReconciler implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #pods: Informer<Pod>;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#claims = context.informers.of(persistentVolumeClaims);
    this.#volumes = context.informers.of(persistentVolumes);
    this.#pods = context.informers.of(pods);
    this.#queue = context.queue;
    this.caches = [this.#claims, this.#volumes, this.#pods];
  }

  listen(): readonly (() => void)[] {
    const claim = (object: PersistentVolumeClaim) => {
      if (isEnding(object, finalizers.pvcProtection)) this.#queue.add(claimKey(object));
    };
    const volume = (object: PersistentVolume) => {
      if (isEnding(object, finalizers.pvProtection)) this.#queue.add(volumeKey(object));
    };
    const pod = (object: Pod) => this.#released(object);
    return [
      this.#claims.addHandler({ added: claim, updated: claim }),
      this.#volumes.addHandler({ added: volume, updated: volume }),
      this.#pods.addHandler({ updated: pod, deleted: pod }),
    ];
  }

  /** A pod that no longer exists, or that its node has finished, may have been the last user of its claims. */
  #released(pod: Pod): void {
    const namespace = pod.metadata?.namespace ?? '';
    for (const name of allClaimNamesOf(pod)) {
      const claim = this.#claims.get(`${namespace}/${name}`);
      if (claim !== undefined && isEnding(claim, finalizers.pvcProtection)) this.#queue.add(claimKey(claim));
    }
  }

  /** Objects that could be released according to the caches. */
  *sweepKeys(): Iterable<string> {
    const claims = [...this.#claims.values()].filter((claim) => isEnding(claim, finalizers.pvcProtection));
    const placed = claims.length === 0 ? [] : [...this.#pods.values()].filter(isPlaced);
    const inUse = new Set(placed.flatMap((pod) => claimNamesOf(pod).map((name) => claimKeyFor(pod, name))));
    for (const claim of claims) if (!inUse.has(claimKey(claim))) yield claimKey(claim);
    for (const volume of this.#volumes.values())
      if (isEnding(volume, finalizers.pvProtection) && !isBound(volume)) yield volumeKey(volume);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const [what, rest = ''] = key.split(' ');
    if (what === 'claim') await this.#releaseClaim(rest, signal);
    else await this.#releaseVolume(rest, signal);
  }

  async #releaseClaim(key: string, signal: AbortSignal): Promise<void> {
    const { namespace = '', name } = parseKey(key);
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const claim = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    if (claim === undefined || !isEnding(claim, finalizers.pvcProtection)) return;
    // Read from the server, not from the cache: a pod may have been placed a moment ago, and a removed claim cannot be restored.
    const { items } = await this.#context.cluster.resource(pods).list({ namespace, signal });
    if (items.some((pod) => uses(pod, name))) return;
    this.#context.beforeWrite();
    await removeFinalizer(client, claim, finalizers.pvcProtection, signal);
  }

  async #releaseVolume(name: string, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(persistentVolumes);
    const volume = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (volume === undefined || !isEnding(volume, finalizers.pvProtection)) return;
    if (isBound(volume)) return;
    this.#context.beforeWrite();
    await removeFinalizer(client, volume, finalizers.pvProtection, signal);
  }
}

/** Pods without a node are not started any more once the claim is being deleted. */
function uses(pod: Pod, claimName: string): boolean {
  return isPlaced(pod) && claimNamesOf(pod).includes(claimName);
}

function isPlaced({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

function isBound({ status }: PersistentVolume): boolean {
  return status?.phase === 'Bound';
}

function isEnding({ metadata }: PersistentVolumeClaim | PersistentVolume, finalizer: string): boolean {
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

function claimKey(claim: PersistentVolumeClaim): string {
  return `claim ${keyOf(claim)}`;
}

function claimKeyFor({ metadata }: Pod, claimName: string): string {
  return `claim ${metadata?.namespace}/${claimName}`;
}

function volumeKey({ metadata }: PersistentVolume): string {
  return `volume ${metadata?.name}`;
}
