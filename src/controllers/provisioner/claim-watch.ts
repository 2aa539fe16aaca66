import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { keyOf } from '../../kube/object-key.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, storageClasses } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp } from '../../kube/wire.ts';
import type { LoopContext } from '../../reconcile/define-controller.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';
import { demandKey, provisionerOf } from './claim-demand.ts';
import { cloneSourceKey, isProtectedCloneSource } from './csi/cloning-protection.ts';
import { intentOf } from './intent.ts';
import type { Provisioners } from './provisioner.ts';

/** Turns changes in the cluster into keys to reconcile. */
export class ClaimWatch {
  readonly #queue: WorkQueue;
  readonly #provisioners: Provisioners;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #classes: Informer<StorageClass>;
  readonly #nodes: Informer<Node>;
  /** Claims that cannot be provisioned with the current classes and nodes. Only a hint: after a restart all claims are reconciled anyway. */
  readonly #waitingForChange = new Set<string>();

  constructor(context: LoopContext, provisioners: Provisioners) {
    this.#queue = context.queue;
    this.#provisioners = provisioners;
    this.#claims = context.informers.of(persistentVolumeClaims);
    this.#volumes = context.informers.of(persistentVolumes);
    this.#classes = context.informers.of(storageClasses);
    this.#nodes = context.informers.of(nodes);
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    const caches = [this.#claims, this.#volumes, this.#classes, this.#nodes];
    const synced = await Promise.all(caches.map((cache) => cache.synced(signal)));
    return synced.every(Boolean);
  }

  allNodes(): Iterable<Node> {
    return this.#nodes.values();
  }

  allClaims(): Iterable<PersistentVolumeClaim> {
    return this.#claims.values();
  }

  /** Reconciles the claim again when a class or a node changes. */
  waitForChange(key: string): void {
    this.#waitingForChange.add(key);
  }

  /** Everything of a provisioner that has just joined. */
  queueAllOf(provisioner: string): void {
    for (const claim of this.#claims.values())
      if ([intentOf(claim)?.provisioner, provisionerOf(claim)].includes(provisioner)) this.#claim(claim);
    for (const volume of this.#volumes.values())
      if (lookUp(volume.metadata?.annotations, annotations.provisionedBy) === provisioner)
        this.#volume(volume);
  }

  /** Volumes that may have to be deleted: another process may have been responsible for them. */
  queueEndedVolumes(): void {
    for (const volume of this.#volumes.values())
      if (volume.status?.phase === 'Released' || volume.metadata?.deletionTimestamp !== undefined)
        this.#volume(volume);
  }

  listen(): () => void {
    const wake = () => this.wake();
    const stop = [
      this.#claims.addHandler({
        added: (claim) => this.#claim(claim),
        updated: (claim, old) => {
          if (demandKey(claim) === demandKey(old)) return;
          this.#claim(claim);
          this.#releaseSource(claim);
        },
        deleted: (claim) => {
          this.#waitingForChange.delete(keyOf(claim));
          this.#releaseSource(claim);
        },
      }),
      this.#volumes.addHandler({
        added: (volume) => this.#volume(volume),
        updated: (volume) => this.#volume(volume),
        deleted: (volume) => this.#lost(volume),
      }),
      this.#classes.addHandler({ added: wake, updated: wake }),
      this.#nodes.addHandler({
        added: wake,
        updated: (node, old) => {
          if (JSON.stringify(node.metadata?.labels) !== JSON.stringify(old.metadata?.labels)) this.wake();
        },
        deleted: wake,
      }),
    ];
    return () => {
      for (const end of stop) end();
    };
  }

  /** Reconciles claims that could not be provisioned before. */
  wake(): void {
    for (const key of this.#waitingForChange) this.#queue.add(`claim ${key}`);
    this.#waitingForChange.clear();
  }

  #claim(claim: PersistentVolumeClaim): void {
    const requested = intentOf(claim)?.provisioner ?? provisionerOf(claim);
    if (isProtectedCloneSource(claim)) this.#queue.add(`source ${keyOf(claim)}`);
    if (!this.#provisioners.has(requested) && !this.#provisioners.has(provisionerOf(claim))) return;
    this.#queue.add(`claim ${keyOf(claim)}`);
  }

  /** The claim that this one was to be a clone of may be deleted now. */
  #releaseSource(claim: PersistentVolumeClaim): void {
    const key = cloneSourceKey(claim);
    const source = key === undefined ? undefined : this.#claims.get(key);
    if (source !== undefined && isProtectedCloneSource(source)) this.#queue.add(`source ${key}`);
  }

  #volume(volume: PersistentVolume): void {
    const creator = lookUp(volume.metadata?.annotations, annotations.provisionedBy);
    if (creator !== undefined && this.#provisioners.has(creator))
      this.#queue.add(`volume ${volume.metadata?.name}`);
  }

  /** A claim that had not been bound to it needs another. */
  #lost({ spec }: PersistentVolume): void {
    const { namespace, name } = spec?.claimRef ?? {};
    const claim = this.#claims.get(`${namespace}/${name}`);
    if (claim !== undefined) this.#claim(claim);
  }
}
