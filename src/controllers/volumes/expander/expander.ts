import { type CsiDriverSet, noCsiDrivers, type ServedCsiDriver } from '../../../csi/served-driver.ts';
import { decideExpansion, type ExpansionStep } from '../../../engine/expansion/decide-expansion.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { allClaimNamesOf, claimNamesOf } from '../../../kube/claims-of-pod.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { isFinished } from '../../../kube/pods.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttributesClasses,
} from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { type Controller, servesResource } from '../../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { CsiSettings } from '../../csi-settings.ts';
import { ServedNode } from '../../served-node.ts';
import { VolumeModifier } from '../modifier/volume-modifier.ts';
import { csiResizer } from './csi-resizer.ts';
import { disksResizer } from './disks-resizer.ts';
import { Expansions } from './expansions.ts';
import { type BuiltInResizer, localResizer, type Resizer, zonalResizer } from './resizer.ts';

const workers = 4;
const name = 'expander';

export interface ExpanderControllerSettings {
  /** The drivers whose volumes are expanded too; if left out, there are none. */
  readonly csiDrivers?: CsiDriverSet | undefined;
  /** If `nodeName` is set, the controller expands and modifies only volumes of that node, with its driver. */
  readonly csi?: Pick<CsiSettings, 'timeoutMs' | 'nodeName'> | undefined;
  /** Replaces the built-in resizers. */
  readonly resizers?: readonly BuiltInResizer[] | undefined;
}

/**
 * Expands Stowage volumes, volumes without a CSI driver, and those of the CSI drivers that this process serves, when their claims request
 * more. A volume without a resizer is left to external resizers. Volumes of these drivers are also modified, when their claims name another
 * VolumeAttributesClass.
 *
 * Safe to run twice and to crash anywhere: the size is recorded on the claim before the volume is changed, the volume's size before the
 * claim's, and each step follows from the recorded results of the earlier ones.
 */
export function expanderController(settings: ExpanderControllerSettings = {}): Controller {
  const { csiDrivers, csi } = settings;
  return defineController({
    name,
    workers,
    create: (context) => new Expander(context, settings),
    beside: [
      {
        workers,
        create: (context) => {
          // Older clusters do not serve these classes; then there is nothing to modify.
          if (csiDrivers === undefined || !servesResource(context, volumeAttributesClasses)) return undefined;
          const servedNode = ServedNode.of(csi, context);
          return new VolumeModifier(context, {
            controller: name,
            csiDrivers,
            timeoutMs: csi?.timeoutMs,
            servedNode,
          });
        },
      },
    ],
  });
}

/** Keys are claims, `NAMESPACE/NAME`. */
class Expander implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #settings: ExpanderControllerSettings;
  readonly #drivers: CsiDriverSet;
  readonly #builtIn: readonly BuiltInResizer[];
  readonly #servedNode: ServedNode | undefined;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  /** Only drivers can require that no pod uses a volume. */
  readonly #pods: Informer<Pod> | undefined;
  readonly #expansions: Expansions;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext, settings: ExpanderControllerSettings) {
    const { informers } = context;
    this.#context = context;
    this.#settings = settings;
    this.#drivers = settings.csiDrivers ?? noCsiDrivers;
    this.#servedNode = ServedNode.of(settings.csi, context);
    // Volumes without a driver belong to no node, so one process for the whole cluster expands them.
    const builtIn = this.#servedNode === undefined ? [localResizer, zonalResizer, disksResizer(context)] : [];
    this.#builtIn = settings.resizers ?? builtIn;
    this.#claims = informers.of(persistentVolumeClaims);
    this.#volumes = informers.of(persistentVolumes);
    this.#pods = settings.csiDrivers === undefined ? undefined : informers.of(pods);
    this.#queue = context.queue;
    const caches = [this.#claims, this.#volumes, this.#pods, this.#servedNode];
    this.caches = caches.filter((cache) => cache !== undefined);
    this.#expansions = new Expansions(context, {
      onWrite: context.beforeWrite,
      isUsed: (claim) => this.#isUsed(claim),
      onError: (claim, error) => context.report({ controller: name, key: keyOf(claim), error }),
    });
  }

  listen(): readonly (() => void)[] {
    const claim = (object: PersistentVolumeClaim) => this.#consider(object);
    const volume = (object: PersistentVolume) => {
      const { namespace, name: claimName } = object.spec?.claimRef ?? {};
      const found = this.#claims.get(`${namespace}/${claimName}`);
      if (found !== undefined) this.#consider(found);
    };
    const release = (pod: Pod) => this.#release(pod);
    const stops = [
      this.#pods?.addHandler({ updated: release, deleted: release }),
      this.#servedNode?.onChange(() => this.#considerAll()),
    ];
    return [
      this.#claims.addHandler({
        added: claim,
        updated: claim,
        deleted: (gone) => this.#expansions.forget(keyOf(gone)),
      }),
      this.#volumes.addHandler({ added: volume, updated: volume }),
      this.#drivers.onJoin((driver) => this.#joined(driver)),
      ...stops.filter((stop) => stop !== undefined),
    ];
  }

  #considerAll(): void {
    for (const claim of this.#claims.values()) this.#consider(claim);
  }

  #joined(driver: ServedCsiDriver): void {
    for (const volume of this.#volumes.values()) {
      if (volume.spec?.csi?.driver !== driver.name) continue;
      const { namespace, name: claimName } = volume.spec.claimRef ?? {};
      const found = this.#claims.get(`${namespace}/${claimName}`);
      if (found !== undefined) this.#consider(found);
    }
  }

  /** The pod may have been the last one that a volume had to wait for. */
  #release(pod: Pod): void {
    for (const claimName of allClaimNamesOf(pod)) {
      const key = `${pod.metadata?.namespace}/${claimName}`;
      if (this.#expansions.awaitsRelease(key)) this.#queue.add(key);
    }
  }

  #isUsed({ metadata }: PersistentVolumeClaim): boolean {
    for (const pod of this.#pods?.values() ?? []) {
      if (pod.metadata?.namespace !== metadata?.namespace || isFinished(pod)) continue;
      if (claimNamesOf(pod).includes(metadata?.name ?? '')) return true;
    }
    return false;
  }

  /** Most claims have the size they request, and need no reconcile. */
  #consider(claim: PersistentVolumeClaim): void {
    if (this.#stepFor(claim) !== 'nothing') this.#queue.add(keyOf(claim));
  }

  /** Failed attempts, such as infeasible sizes, are repeated by the queue, unless they wait for pods. */
  *sweepKeys(): Iterable<string> {
    for (const claim of this.#claims.values()) {
      const step = this.#stepFor(claim);
      const key = keyOf(claim);
      const isDelayed = this.#expansions.isDelayed(key) && !this.#expansions.awaitsRelease(key);
      const isRepeated = step === 'retry-later' || isDelayed;
      if (step !== 'nothing' && !isRepeated) yield key;
    }
  }

  #stepFor(claim: PersistentVolumeClaim): ExpansionStep['kind'] {
    const volume = this.#volumes.get(claim.spec?.volumeName ?? '');
    if (volume === undefined || !this.#isServed(volume, claim)) return 'nothing';
    return decideExpansion(claim, volume, { hasResizer: true }).kind;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { namespace = '', name: claimName } = parseKey(key);
    const { cluster } = this.#context;
    const claims = cluster.resource(persistentVolumeClaims);
    const claim = await undefinedIfNotFound(claims.get({ namespace, name: claimName }, { signal }));
    const volumeName = claim?.spec?.volumeName ?? '';
    if (claim === undefined || volumeName === '') return undefined;
    const volume = await undefinedIfNotFound(
      cluster.resource(persistentVolumes).get({ name: volumeName }, { signal }),
    );
    if (volume === undefined || !this.#isServed(volume, claim)) return undefined;
    return await this.#expansions.step({ claim, volume, resizer: this.#resizerFor(volume) }, signal);
  }

  /** Where each node has its process, another one expands the volumes of other nodes, and those of drivers that are not served here. */
  #isServed(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
    if (this.#servedNode === undefined) return true;
    return this.#resizerFor(volume) !== undefined && this.#servedNode.owns(volume, claim);
  }

  #resizerFor(volume: PersistentVolume): Resizer | undefined {
    const { csi } = this.#settings;
    const builtIn = this.#builtIn.find((candidate) => candidate.isFor(volume));
    const driver = this.#drivers.get(volume.spec?.csi?.driver ?? '');
    if (builtIn !== undefined || driver === undefined) return builtIn;
    return csiResizer(driver, { cluster: this.#context.cluster, timeoutMs: csi?.timeoutMs });
  }
}
