import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { persistentVolumeClaims, persistentVolumes, volumeAttributesClasses } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { LoopContext, Reconciler } from '../../reconcile/define-controller.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';

const finalizer = 'kubernetes.io/vac-protection';

/**
 * The part of `protection` that keeps a VolumeAttributesClass while a claim or a volume names it. Keys are
 * `class NAME`. Its only write removes one finalizer from the version that was read.
 */
export class AttributesClassProtection implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#queue = context.queue;
    this.caches = [volumeAttributesClasses, persistentVolumeClaims, persistentVolumes].map((resource) =>
      context.informers.of<KubeObject>(resource),
    );
  }

  listen(): readonly (() => void)[] {
    const { informers } = this.#context;
    const ending = (object: KubeObject) => {
      if (isEnding(object)) this.#queue.add(keyOfClass(object.metadata?.name));
    };
    return [
      informers.of(volumeAttributesClasses).addHandler({ added: ending, updated: ending }),
      informers.of(persistentVolumeClaims).addHandler(this.#onLoss(classesOfClaim)),
      informers.of(persistentVolumes).addHandler(this.#onLoss(classesOfVolume)),
    ];
  }

  #onLoss<T extends KubeObject>(classesOf: (object: T) => readonly string[]) {
    return {
      updated: (object: T, old: T) => {
        const kept = classesOf(object);
        for (const name of classesOf(old)) if (!kept.includes(name)) this.#queue.add(keyOfClass(name));
      },
      deleted: (object: T) => {
        for (const name of classesOf(object)) this.#queue.add(keyOfClass(name));
      },
    };
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const name = key.slice(keyOfClass('').length);
    const { cluster } = this.#context;
    const client = cluster.resource(volumeAttributesClasses);
    const found = await undefinedIfNotFound(client.get({ name }, { signal }));
    if (found === undefined || !isEnding(found)) return;
    // Read from the server, not from the caches: a removed class cannot be restored.
    const { items: volumes } = await cluster.resource(persistentVolumes).list({ signal });
    if (volumes.some((volume) => classesOfVolume(volume).includes(name))) return;
    const { items: claims } = await cluster.resource(persistentVolumeClaims).list({ signal });
    if (claims.some((claim) => classesOfClaim(claim).includes(name))) return;
    await removeFinalizer(client, found, finalizer, signal);
  }
}

function keyOfClass(name = ''): string {
  return `class ${name}`;
}

function isEnding({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

/** The class that a claim requests, its current class, and the one that is being applied. */
function classesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const { currentVolumeAttributesClassName: current = '', modifyVolumeStatus } = status ?? {};
  const { targetVolumeAttributesClassName: target = '' } = modifyVolumeStatus ?? {};
  return [spec?.volumeAttributesClassName ?? '', current, target].filter((name) => name !== '');
}

function classesOfVolume({ spec }: PersistentVolume): readonly string[] {
  return [spec?.volumeAttributesClassName ?? ''].filter((name) => name !== '');
}
