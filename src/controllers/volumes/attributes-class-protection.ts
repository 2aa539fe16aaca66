import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { persistentVolumeClaims, persistentVolumes, volumeAttributesClasses } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { runWorkers } from '../../reconcile/workers.ts';

const finalizer = 'kubernetes.io/vac-protection';

/**
 * The part of `protection` that keeps a VolumeAttributesClass while a claim or a volume names it. Keys are names of classes. Its only
 * write removes one finalizer from the version that was read.
 */
export class AttributesClassProtection {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context);
  }

  /** Older clusters do not serve these classes; then there is nothing to protect. */
  async run(signal: AbortSignal): Promise<void> {
    const { informers, resources, report } = this.#context;
    if (!resources.some(({ plural }) => plural === volumeAttributesClasses.plural)) return;
    const classes = informers.of(volumeAttributesClasses);
    const claims = informers.of(persistentVolumeClaims);
    const volumes = informers.of(persistentVolumes);
    const synced = await Promise.all([classes, claims, volumes].map((cache) => cache.synced(signal)));
    if (!synced.every(Boolean)) return;
    const ending = (object: KubeObject) => {
      if (isEnding(object)) this.#queue.add(object.metadata?.name ?? '');
    };
    const stop = [
      classes.addHandler({ added: ending, updated: ending }),
      claims.addHandler(this.#onLoss(classesOfClaim)),
      volumes.addHandler(this.#onLoss(classesOfVolume)),
    ];
    try {
      await runWorkers(this.#queue, (name) => this.#reconcile(name, signal), {
        workers: 1,
        signal,
        onError: (error, key) => report({ controller: 'protection', key: `class ${key}`, error }),
      });
    } finally {
      for (const end of stop) end();
    }
  }

  #onLoss<T extends KubeObject>(classesOf: (object: T) => readonly string[]) {
    return {
      updated: (object: T, old: T) => {
        const kept = classesOf(object);
        for (const name of classesOf(old)) if (!kept.includes(name)) this.#queue.add(name);
      },
      deleted: (object: T) => {
        for (const name of classesOf(object)) this.#queue.add(name);
      },
    };
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<undefined> {
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
