import type { Node, PersistentVolume, Pod } from '../../../kube/api/core.ts';
import { claimNamesOf } from '../../../kube/claims-of-pod.ts';
import { nodes, persistentVolumes, pods } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import { decideUpgrade, type ZonalUpgrade } from './decide-upgrade.ts';
import { upgradeVolume } from './upgrade-volume.ts';

/**
 * Gives volumes with zone and region labels a node affinity with the same meaning. The labels stay.
 *
 * Safe to run twice and to crash anywhere: its only write completes the upgrade of one volume, and a volume with an affinity is
 * not changed.
 */
export const zonalUpgradeController = defineController({
  name: 'zonal-upgrade',
  workers: 2,
  create: (context) => new ZonalUpgrader(context),
});

/** Keys are names of volumes. */
class ZonalUpgrader implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  readonly #queue: WorkQueue;
  /** Volumes that wait for their users or for nodes to change. */
  readonly #refused = new Set<string>();

  constructor(context: LoopContext) {
    this.#context = context;
    this.#volumes = context.informers.of(persistentVolumes);
    this.#nodes = context.informers.of(nodes);
    this.#pods = context.informers.of(pods);
    this.#queue = context.queue;
    this.caches = [this.#volumes, this.#nodes, this.#pods];
  }

  listen(): readonly (() => void)[] {
    const volume = (object: PersistentVolume) => {
      if (decideUpgrade(object, { nodes: [], users: [] }).kind !== 'leave')
        this.#queue.add(object.metadata?.name ?? '');
    };
    const node = () => {
      for (const name of this.#refused) this.#queue.add(name);
    };
    const pod = (object: Pod) => this.#released(object);
    return [
      this.#volumes.addHandler({
        added: volume,
        updated: volume,
        deleted: ({ metadata }) => this.#refused.delete(metadata?.name ?? ''),
      }),
      this.#nodes.addHandler({ added: node, updated: node, deleted: node }),
      this.#pods.addHandler({ updated: pod, deleted: pod }),
    ];
  }

  #released(pod: Pod): void {
    const names = claimNamesOf(pod);
    for (const name of this.#refused) {
      const claimRef = this.#volumes.get(name)?.spec?.claimRef;
      if (claimRef?.namespace === pod.metadata?.namespace && names.includes(claimRef?.name ?? ''))
        this.#queue.add(name);
    }
  }

  async reconcile(name: string, signal: AbortSignal): Promise<undefined> {
    const { cluster } = this.#context;
    const volume = await undefinedIfNotFound(cluster.resource(persistentVolumes).get({ name }, { signal }));
    if (volume === undefined) return;
    const options = { nodes: [...this.#nodes.values()], isDryRun: false, signal };
    const upgrade = await upgradeVolume(cluster, volume, options);
    if (upgrade.kind === 'refuse') this.#refused.add(name);
    else this.#refused.delete(name);
    this.#recordEvent(volume, upgrade);
  }

  #recordEvent(volume: PersistentVolume, upgrade: ZonalUpgrade): void {
    if (upgrade.kind === 'leave') return;
    const isDone = upgrade.kind === 'upgrade';
    this.#context.events.record({
      regarding: referenceTo(volume, { apiVersion: 'v1', kind: 'PersistentVolume' }),
      type: isDone ? 'Normal' : 'Warning',
      reason: isDone ? 'ZonalUpgrade' : 'ZonalUpgradeRefused',
      action: 'SetNodeAffinity',
      note: isDone ? 'node affinity set from zone and region labels' : upgrade.message,
    });
  }
}
