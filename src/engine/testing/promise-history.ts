/**
 * A slow, obvious model of a driver with one pool, its publisher, its provisioner and the API server, for the accounting of promises. The model
 * knows what the driver had created when a capacity report was measured, which no scheduler can see.
 */
import fc from 'fast-check';
import type { KubeObject } from '../../kube/api/meta.ts';
import { annotations } from '../../kube/well-known.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  node,
  storageCapacity,
  volume,
} from './objects.ts';
import { upsertObject } from './random/events.ts';

const driver = 'disk.csi';
const totalBytes = 1_000_000;
const claimNames = ['a', 'b', 'c', 'd'];

/**
 * - `select`: a scheduler selects the node of a claim. `create`: the driver creates its volume. `announce`: the PersistentVolume is written.
 *   `bind`, `delete`: the claim is bound; claim and volume are deleted.
 * - `measure`: the publisher asks the driver. `publish`: it writes one of its reports, not always the newest. `renew`: it renews the expiry.
 * - `restart`: the scheduler starts again, and sees the objects in another order.
 */
export type HistoryStep =
  | { readonly type: 'select' | 'create' | 'announce' | 'bind' | 'delete'; readonly name: string }
  | { readonly type: 'measure' | 'renew' }
  | { readonly type: 'publish' | 'restart'; readonly pick: number };

const names = fc.constantFrom(...claimNames);

export const arbStep: fc.Arbitrary<HistoryStep & { readonly afterMs: number }> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ type: fc.constant('select' as const), name: names }) },
      { weight: 5, arbitrary: fc.record({ type: fc.constant('create' as const), name: names }) },
      { weight: 5, arbitrary: fc.record({ type: fc.constant('announce' as const), name: names }) },
      { weight: 4, arbitrary: fc.record({ type: fc.constant('bind' as const), name: names }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const), name: names }) },
      { weight: 6, arbitrary: fc.record({ type: fc.constant('measure' as const) }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('renew' as const) }) },
      { weight: 6, arbitrary: fc.record({ type: fc.constant('publish' as const), pick: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const), pick: fc.nat(6) }) },
    ),
    fc.integer({ min: 1, max: 2_000 }),
  )
  .map(([step, afterMs]) => ({ ...step, afterMs }));

export interface HistoryOptions {
  readonly form: 'CSIStorageCapacity' | 'DriverCapacity';
  /** The publisher writes when it measured. Otherwise every report is published immediately. */
  readonly isMeasured: boolean;
  /** The provisioner writes when it had created the volume. Otherwise only the PersistentVolume's creation is known, in seconds. */
  readonly hasExactTimes: boolean;
  /** As the option of the index; true by default. */
  readonly remembersPromises?: boolean;
}

interface ModelVolume {
  readonly bytes: number;
  readonly uid: string;
  createdAtMs: number | undefined;
  /** The time since which the volume exists, as the PersistentVolume states. */
  existsAtMs: number | undefined;
  isBound: boolean;
}

interface Report {
  readonly atMs: number;
  readonly freeBytes: number;
  readonly included: ReadonlySet<ModelVolume>;
}

export class PromiseHistory {
  readonly #options: HistoryOptions;
  readonly #volumes = new Map<string, ModelVolume>();
  readonly #objects = new Map<string, readonly [IndexedKind, KubeObject]>();
  readonly #measured: Report[] = [];
  #index: ClusterIndex;
  #nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  #version = 1;
  #report: Report = { atMs: this.#nowMs, freeBytes: totalBytes, included: new Set() };

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#index = this.#newIndex();
    this.#write('Node', node('n1'));
    this.#write('StorageClass', csiClass(driver, 'local'));
    this.#write('CSIDriver', csiDriver(driver));
    this.#publish(this.#report);
  }

  apply(step: HistoryStep & { readonly afterMs: number }): void {
    this.#nowMs += step.afterMs;
    switch (step.type) {
      case 'measure':
        this.#measure();
        break;
      case 'renew':
        this.#publish(this.#report);
        break;
      case 'publish': {
        const report = this.#measured[step.pick % Math.max(1, this.#measured.length)];
        if (report !== undefined) this.#publish(report);
        break;
      }
      case 'restart':
        // A report without a time says nothing about volumes from before the start.
        if (this.#options.isMeasured) this.#restart(step.pick);
        break;
      default:
        this.#step(step.type, step.name);
    }
    this.#index.settle(this.#nowMs);
  }

  /** The free bytes of the pool in the index. */
  get available(): number {
    return availableIn(this.#index);
  }

  /** The same by an index that is built of the objects now. */
  get availableByObjects(): number {
    const index = new ClusterIndex();
    for (const [kind, object] of this.#objects.values()) upsertObject(index, kind, object);
    index.settle(this.#nowMs);
    return availableIn(index);
  }

  /** The report less everything that is in flight or exists and that the driver did not have yet when it was measured. */
  get truth(): number {
    const missing = [...this.#volumes.values()].filter((each) => !this.#report.included.has(each));
    return missing.reduce((left, { bytes }) => left - bytes, this.#report.freeBytes);
  }

  /** The report includes a volume, and nothing that a scheduler can read proves it. Then the bytes may be deducted once more. */
  get isAmbiguous(): boolean {
    return [...this.#volumes.values()].some(
      (each) =>
        this.#report.included.has(each) &&
        (!this.#options.isMeasured || each.existsAtMs === undefined || each.existsAtMs >= this.#report.atMs),
    );
  }

  #step(type: 'select' | 'create' | 'announce' | 'bind' | 'delete', name: string): void {
    const known = this.#volumes.get(name);
    if (type === 'select' && known === undefined) this.#select(name);
    if (known === undefined) return;
    if (type === 'create' && known.createdAtMs === undefined) known.createdAtMs = this.#nowMs;
    if (type === 'announce' && known.createdAtMs !== undefined && known.existsAtMs === undefined)
      this.#announce(name, known);
    if (type === 'bind' && known.existsAtMs !== undefined && !known.isBound) this.#bind(name, known);
    if (type === 'delete' && known.isBound) this.#delete(name);
  }

  #select(name: string): void {
    const bytes = 1_000 * (1 + claimNames.indexOf(name)) + this.#version;
    const uid = `uid-${this.#version}`;
    this.#volumes.set(name, { bytes, uid, createdAtMs: undefined, existsAtMs: undefined, isBound: false });
    this.#write(
      'PersistentVolumeClaim',
      claim(name, String(bytes), { metadata: this.#claimMetadata(name, uid) }),
    );
  }

  #announce(name: string, known: ModelVolume): void {
    const { hasExactTimes } = this.#options;
    const seconds = Math.floor(this.#nowMs / 1000) * 1000;
    known.existsAtMs = hasExactTimes ? known.createdAtMs! : seconds + 1000;
    this.#write(
      'PersistentVolume',
      volume(`pv-${name}`, String(known.bytes), {
        phase: 'Bound',
        metadata: {
          name: `pv-${name}`,
          creationTimestamp: new Date(seconds).toISOString(),
          annotations: {
            [annotations.provisionedBy]: driver,
            ...(hasExactTimes && {
              [annotations.volumeCreatedAt]: new Date(known.createdAtMs!).toISOString(),
            }),
          },
        },
        spec: {
          claimRef: { namespace: 'default', name, uid: known.uid },
          persistentVolumeReclaimPolicy: 'Delete',
        },
      }),
    );
  }

  #bind(name: string, known: ModelVolume): void {
    known.isBound = true;
    const metadata = this.#claimMetadata(name, known.uid, { [annotations.bindCompleted]: 'yes' });
    this.#write('PersistentVolumeClaim', boundClaim(name, String(known.bytes), `pv-${name}`, { metadata }));
  }

  #claimMetadata(name: string, uid: string, more: Record<string, string> = {}) {
    const found = { [annotations.selectedNode]: 'n1', ...more };
    return { namespace: 'default', name, uid, annotations: found };
  }

  #delete(name: string): void {
    this.#volumes.delete(name);
    this.#remove('PersistentVolumeClaim', `default/${name}`);
    this.#remove('PersistentVolume', `pv-${name}`);
  }

  #measure(): void {
    const included = new Set([...this.#volumes.values()].filter((each) => each.createdAtMs !== undefined));
    const usedBytes = [...included].reduce((sum, { bytes }) => sum + bytes, 0);
    const report = { atMs: this.#nowMs, freeBytes: totalBytes - usedBytes, included };
    if (!this.#options.isMeasured) this.#publish(report);
    else if (this.#measured.unshift(report) > 4) this.#measured.pop();
  }

  #publish(report: Report): void {
    // Two versions of a CSIStorageCapacity without a time differ, so a renewal looks like a measurement.
    if (!this.#options.isMeasured && this.#options.form === 'CSIStorageCapacity' && report === this.#report)
      if (this.#objects.has('CSIStorageCapacity storage/net')) return;
    this.#report = report;
    const measuredAt = new Date(report.atMs).toISOString();
    const capacity = String(report.freeBytes);
    const { isMeasured, form } = this.#options;
    if (form === 'DriverCapacity') {
      const expiryTime = new Date(this.#nowMs + 600_000).toISOString();
      const pool = { name: 'net', capacity, expiryTime, ...(isMeasured && { measuredAt }) };
      this.#write('DriverCapacity', driverCapacity(driver, [{ storageClassName: 'local', pools: [pool] }]));
      return;
    }
    const object = storageCapacity('net', 'local', { capacity });
    const found = isMeasured ? { [annotations.measuredAt]: measuredAt } : {};
    this.#write('CSIStorageCapacity', { ...object, metadata: { ...object.metadata, annotations: found } });
  }

  #restart(pick: number): void {
    this.#index = this.#newIndex();
    const objects = [...this.#objects.values()];
    const start = pick % objects.length;
    for (const [kind, object] of [...objects.slice(start), ...objects.slice(0, start)])
      upsertObject(this.#index, kind, object);
  }

  #newIndex(): ClusterIndex {
    const { remembersPromises = true } = this.#options;
    return new ClusterIndex(stowageProfile, { remembersPromises });
  }

  #write(kind: IndexedKind, object: KubeObject): void {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const written = { ...object, metadata } as KubeObject;
    this.#objects.set(`${kind} ${metadata.namespace ?? ''}/${metadata.name}`.replace(' /', ' '), [
      kind,
      written,
    ]);
    upsertObject(this.#index, kind, written);
  }

  #remove(kind: IndexedKind, key: string): void {
    this.#objects.delete(`${kind} ${key}`);
    this.#index.remove(kind, key);
  }
}

/** The free bytes of the only pool. */
function availableIn({ pools }: ClusterIndex): number {
  const [pool] = [...pools.records()];
  return pools.available(pools.row(pool!.key)!).bytes;
}
