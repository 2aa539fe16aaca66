import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { VolumeAttributesClass } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttributesClasses,
} from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { LoopContext, Reconciler } from '../../../reconcile/define-controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { ServedNode } from '../../served-node.ts';
import { decideModification } from './decide-modification.ts';
import { Modifications } from './modifications.ts';

export interface VolumeModifierOptions {
  /** The controller that this is a part of. */
  readonly controller: string;
  readonly csiDrivers: CsiDriverSet;
  readonly timeoutMs: number | undefined;
  /** The node whose volumes are modified; undefined for all nodes. */
  readonly servedNode?: ServedNode | undefined;
}

/** Modifies volumes of CSI drivers with MODIFY_VOLUME when their claims name another VolumeAttributesClass. Keys are claims, `NAMESPACE/NAME`. */
export class VolumeModifier implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #options: VolumeModifierOptions;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #classes: Informer<VolumeAttributesClass>;
  readonly #modifications: Modifications;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext, options: VolumeModifierOptions) {
    const { controller, timeoutMs, servedNode } = options;
    this.#context = context;
    this.#options = options;
    this.#claims = context.informers.of(persistentVolumeClaims);
    this.#volumes = context.informers.of(persistentVolumes);
    this.#classes = context.informers.of(volumeAttributesClasses);
    this.#queue = context.queue;
    const caches = [this.#claims, this.#volumes, this.#classes, servedNode];
    this.caches = caches.filter((cache) => cache !== undefined);
    this.#modifications = new Modifications(context, {
      timeoutMs,
      onWrite: context.beforeWrite,
      onError: (claim, error) => context.report({ controller, key: keyOf(claim), error }),
    });
  }

  listen(): readonly (() => void)[] {
    const claim = (object: PersistentVolumeClaim) => this.#consider(object);
    const volume = (object: PersistentVolume) => this.#considerVolume(object);
    const stopNodes = this.#options.servedNode?.onChange(() => {
      for (const object of this.#claims.values()) this.#consider(object);
    });
    return [
      this.#claims.addHandler({
        added: claim,
        updated: claim,
        deleted: (gone) => this.#modifications.forget(keyOf(gone)),
      }),
      this.#volumes.addHandler({ added: volume, updated: volume }),
      this.#classes.addHandler({ added: ({ metadata }) => this.#considerClass(metadata?.name ?? '') }),
      this.#options.csiDrivers.onJoin((driver) => {
        for (const object of this.#volumes.values())
          if (object.spec?.csi?.driver === driver.name) this.#considerVolume(object);
      }),
      ...(stopNodes === undefined ? [] : [stopNodes]),
    ];
  }

  #consider(claim: PersistentVolumeClaim): void {
    if (this.#needsStep(claim)) this.#queue.add(keyOf(claim));
  }

  #considerVolume({ spec }: PersistentVolume): void {
    const { namespace, name } = spec?.claimRef ?? {};
    const claim = this.#claims.get(`${namespace}/${name}`);
    if (claim !== undefined) this.#consider(claim);
  }

  /** Claims may wait for the class. */
  #considerClass(className: string): void {
    for (const claim of this.#claims.values()) {
      const target = claim.status?.modifyVolumeStatus?.targetVolumeAttributesClassName;
      if (claim.spec?.volumeAttributesClassName === className || target === className) this.#consider(claim);
    }
  }

  /** Failed calls are repeated by the queue. */
  *sweepKeys(): Iterable<string> {
    for (const claim of this.#claims.values()) {
      const isRepeated = this.#modifications.isDelayed(keyOf(claim));
      if (this.#needsStep(claim) && !isRepeated) yield keyOf(claim);
    }
  }

  #needsStep(claim: PersistentVolumeClaim): boolean {
    const volume = this.#volumes.get(claim.spec?.volumeName ?? '');
    if (volume === undefined || this.#driverOf(volume, claim) === undefined) return false;
    return decideModification(claim, volume, true).kind !== 'nothing';
  }

  /** Undefined for drivers that cannot modify volumes, and for volumes of other nodes, too. */
  #driverOf(volume: PersistentVolume, claim: PersistentVolumeClaim): ServedCsiDriver | undefined {
    const { csiDrivers, servedNode } = this.#options;
    const driver = csiDrivers.get(volume.spec?.csi?.driver ?? '');
    if (driver?.hasControllerCapability('MODIFY_VOLUME') !== true) return undefined;
    return servedNode?.owns(volume, claim) === false ? undefined : driver;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { namespace = '', name } = parseKey(key);
    const { cluster } = this.#context;
    const claims = cluster.resource(persistentVolumeClaims);
    const claim = await undefinedIfNotFound(claims.get({ namespace, name }, { signal }));
    const volumeName = claim?.spec?.volumeName ?? '';
    if (claim === undefined || volumeName === '') return undefined;
    const volumes = cluster.resource(persistentVolumes);
    const volume = await undefinedIfNotFound(volumes.get({ name: volumeName }, { signal }));
    const driver = volume && this.#driverOf(volume, claim);
    if (volume === undefined || driver === undefined) return undefined;
    try {
      return await this.#modifications.step({ claim, volume, driver }, signal);
    } catch (error) {
      // The claim is expanded at the same time, or another client changed it. The next run reads the new version.
      if (isReason(error, 'Conflict')) return {};
      throw error;
    }
  }
}
