import { auditLedgers, type LedgerState } from '../../engine/drives/ledger-audit.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { BackgroundWork } from '../../runtime/supervisor.ts';
import type { DriveCache, DriveCacheOptions } from './drive-cache.ts';

/** Where the comparison of ledgers reads. */
export interface LedgerSource {
  /** Resolves when drives and PersistentVolumes are known; false if `signal` aborted before. */
  synced(signal: AbortSignal): Promise<boolean>;
  /** PersistentVolumes that are known. */
  readonly volumes: Iterable<PersistentVolume>;
  /** `listener` is called for each drive that is known, then for each new state of a drive. Returns how to stop that. */
  onDriveChange(listener: DriveChangeListener): () => void;
  /** Rejects if the API server does not answer. */
  read(signal: AbortSignal): Promise<LedgerObjects>;
}

export type DriveChangeListener = (after: Drive, before: Drive | undefined) => void;

/** Copies: caches change while findings are written. */
export interface LedgerObjects extends LedgerState {
  readonly drives: readonly Drive[];
  readonly volumes: readonly PersistentVolume[];
}

/**
 * Watches PersistentVolumes, and asks for the claims and pods of those entries that have none. A separate process does not keep all claims
 * and pods of the cluster for the few that are needed.
 */
export class ApiLedgerSource implements LedgerSource {
  readonly #cluster: DriveCacheOptions['cluster'];
  readonly #cache: DriveCache;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #work: BackgroundWork;

  constructor(cache: DriveCache, { supervisor, ...options }: DriveCacheOptions) {
    this.#cluster = options.cluster;
    this.#cache = cache;
    const purpose = 'of the drives controller';
    this.#volumes = new Informer({ ...options, resource: persistentVolumes, purpose });
    this.#work = this.#volumes.start(supervisor);
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    return (await this.#cache.synced(signal)) && (await this.#volumes.synced(signal));
  }

  get volumes(): readonly PersistentVolume[] {
    return [...this.#volumes.values()] as PersistentVolume[];
  }

  onDriveChange(listener: DriveChangeListener): () => void {
    return this.#cache.onDriveChange(listener);
  }

  async read(signal: AbortSignal): Promise<LedgerObjects> {
    const drives = this.#cache.drives;
    const { volumes } = this;
    const claimKeys = new Set<string>();
    const podKeys = new Set<string>();
    // A comparison without claims and pods says which ones it asks for.
    auditLedgers({
      drives,
      volumes,
      claimNamed: (key) => void claimKeys.add(key),
      podNamed: (key) => void podKeys.add(key),
    });
    const claims = await this.#existing(persistentVolumeClaims, claimKeys, signal);
    const found = await this.#existing(pods, podKeys, signal);
    return { drives, volumes, claimNamed: (key) => claims.get(key), podNamed: (key) => found.get(key) };
  }

  /** One after the other: nothing waits for the comparison. */
  async #existing<T extends KubeObject>(
    resource: Resource<T>,
    keys: Iterable<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, KubeObject>> {
    const found = new Map<string, KubeObject>();
    for (const key of keys) {
      const [namespace = '', name = ''] = key.split('/');
      try {
        found.set(key, await this.#cluster.resource(resource).get({ namespace, name }, { signal }));
      } catch (error) {
        if (!isReason(error, 'NotFound')) throw error;
      }
    }
    return found;
  }
}
