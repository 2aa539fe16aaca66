import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { Controller, ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { Sweep } from '../../../reconcile/sweep.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { decideExpansion, type ExpansionStep } from './decide-expansion.ts';
import { Expansions } from './expansions.ts';
import { localResizer, type Resizer, zonalResizer } from './resizer.ts';

const workers = 4;
const name = 'expander';

/** Expands Stowage volumes, and volumes without a CSI driver, when their claims request more. */
export const expander: Controller = expanderWith([localResizer, zonalResizer]);

/**
 * The first resizer that supports a volume expands it; a volume without one is left to external resizers.
 *
 * Safe to run twice and to crash anywhere: the size is recorded on the claim before the volume is changed, the volume's size before the
 * claim's, and each step follows from the recorded results of the earlier ones.
 */
export function expanderWith(resizers: readonly Resizer[]): Controller {
  return { name, run: (context, signal) => new Expander(context, resizers).run(signal) };
}

/** Keys are claims, `NAMESPACE/NAME`. */
class Expander {
  readonly #context: ControllerContext;
  readonly #resizers: readonly Resizer[];
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #expansions: Expansions;
  readonly #queue: WorkQueue;
  readonly #sweep: Sweep;

  constructor(context: ControllerContext, resizers: readonly Resizer[]) {
    this.#context = context;
    this.#resizers = resizers;
    this.#claims = context.informers.of(persistentVolumeClaims);
    this.#volumes = context.informers.of(persistentVolumes);
    this.#queue = new WorkQueue(context);
    this.#sweep = new Sweep(context, { controller: name, queue: this.#queue, keys: () => this.#overdue() });
    this.#expansions = new Expansions(context, () => this.#sweep.beforeWrite());
  }

  async run(signal: AbortSignal): Promise<void> {
    const loop = {
      controller: name,
      caches: [this.#claims, this.#volumes],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: this.#sweep.wrap((key) => this.#reconcile(key, signal)),
      workers,
    };
    await Promise.all([runLoop(this.#context, loop, signal), this.#sweep.run(signal)]);
  }

  #listen(): readonly (() => void)[] {
    const claim = (object: PersistentVolumeClaim) => this.#consider(object);
    const volume = (object: PersistentVolume) => {
      const { namespace, name: claimName } = object.spec?.claimRef ?? {};
      const found = this.#claims.get(`${namespace}/${claimName}`);
      if (found !== undefined) this.#consider(found);
    };
    return [
      this.#claims.addHandler({
        added: claim,
        updated: claim,
        deleted: (gone) => this.#expansions.forget(keyOf(gone)),
      }),
      this.#volumes.addHandler({ added: volume, updated: volume }),
    ];
  }

  /** Most claims have the size they request, and need no reconcile. */
  #consider(claim: PersistentVolumeClaim): void {
    if (this.#stepFor(claim) !== 'nothing') this.#queue.add(keyOf(claim));
  }

  /** An infeasible size is retried by the queue. */
  *#overdue(): Iterable<string> {
    for (const claim of this.#claims.values()) {
      const step = this.#stepFor(claim);
      if (step !== 'nothing' && step !== 'retry-later') yield keyOf(claim);
    }
  }

  #stepFor(claim: PersistentVolumeClaim): ExpansionStep['kind'] {
    const volume = this.#volumes.get(claim.spec?.volumeName ?? '');
    return volume === undefined ? 'nothing' : decideExpansion(claim, volume, true).kind;
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { namespace = '', name: claimName } = parseKey(key);
    const { cluster } = this.#context;
    const claims = cluster.resource(persistentVolumeClaims);
    const claim = await undefinedIfNotFound(claims.get({ namespace, name: claimName }, { signal }));
    const volumeName = claim?.spec?.volumeName ?? '';
    if (claim === undefined || volumeName === '') return undefined;
    const volume = await undefinedIfNotFound(
      cluster.resource(persistentVolumes).get({ name: volumeName }, { signal }),
    );
    if (volume === undefined) return undefined;
    const resizer = this.#resizers.find((candidate) => candidate.isFor(volume));
    return await this.#expansions.step({ claim, volume, resizer }, signal);
  }
}
