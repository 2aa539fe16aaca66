import type { Projected, ResourceClient } from '../../cluster/cluster.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';
import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { isReason } from '../../kube/api-error.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { keyOf } from '../../kube/object-key.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';
import { csiStorageCapacities } from '../../kube/resources.ts';
import { formatDriftRecord, parseDriftRecord } from '../../kube/stowage/drift-record.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { BackgroundWork } from '../../runtime/supervisor.ts';
import { capacityName, digest, publisherLabels } from '../published-names.ts';
import { capacityReportKeyOf, capacityReportOfKey } from './capacity-report-id.ts';
import type {
  CapacityReportDisks,
  CapacityReportStore,
  NewCapacityReport,
  PublishedCapacityReport,
} from './capacity-report-store.ts';
import { segmentKeyOf } from './topology-segment.ts';

export interface CapacityObjectsOptions {
  readonly context: ControllerContext;
  readonly driver: string;
  readonly namespace: string;
  /** The node of this publisher; undefined for one that publishes for all nodes. */
  readonly nodeName: string | undefined;
  readonly owner: OwnerReference | undefined;
}

type Stored = Projected<CSIStorageCapacity>;

/** Capacity reports as CSIStorageCapacity objects, one for each. */
export class CapacityObjects implements CapacityReportStore {
  readonly #options: CapacityObjectsOptions;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #client: ResourceClient<CSIStorageCapacity>;
  readonly #informer: Informer<CSIStorageCapacity>;
  readonly #work: BackgroundWork;
  /** Key: the report, then the name. A report has several objects only if another program has copied our labels. */
  readonly #objects = new Map<string, Map<string, Stored>>();
  /** The last write of this process, to recognise changes of others. */
  readonly #written = new Map<string, string>();

  constructor(options: CapacityObjectsOptions) {
    this.#options = options;
    const { context, driver, namespace, nodeName } = options;
    this.#labels = publisherLabels(driver, nodeName);
    this.#client = context.cluster.resource(csiStorageCapacities);
    const labelSelector = Object.entries(this.#labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    this.#informer = new Informer({
      cluster: context.cluster,
      resource: csiStorageCapacities,
      selection: { namespace, labelSelector },
      clock: context.clock,
      random: context.random.fork('published'),
    });
    this.#work = this.#informer.start(context.supervisor);
  }

  async close(): Promise<void> {
    await this.#work.stop();
  }

  synced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.synced(signal);
  }

  listen(listener: (capacityReportKey: string) => void): () => void {
    return this.#informer.addHandler({
      added: (object) => this.#set(object, listener),
      updated: (object) => this.#set(object, listener),
      deleted: (object) => {
        const capacityReportKey = keyOfCapacityReport(object);
        this.#objects.get(capacityReportKey)?.delete(keyOf(object));
        if (this.#objects.get(capacityReportKey)?.size === 0) this.#objects.delete(capacityReportKey);
        listener(capacityReportKey);
      },
    });
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  published(capacityReportKey: string): PublishedCapacityReport | undefined {
    const [object, ...copies] = this.#objectsOf(capacityReportKey);
    if (object === undefined) return undefined;
    const { metadata, capacity, maximumVolumeSize } = object;
    const freeBytes = capacity === undefined ? undefined : bytesOf(capacity);
    const largestBytes = maximumVolumeSize === undefined ? undefined : bytesOf(maximumVolumeSize);
    const smallest = metadata?.annotations?.[annotations.minimumVolumeSize];
    return {
      freeBytes,
      largestBytes,
      measuredAtMs: parseTimestamp(metadata?.annotations?.[annotations.measuredAt]),
      expiresAtMs: undefined,
      drift: parseDriftRecord(metadata?.annotations?.[annotations.drift]),
      isComplete: (disks) =>
        copies.length === 0 &&
        metadata?.annotations?.[annotations.publisherLease] === this.#options.context.lease &&
        this.#hasOwner(object) &&
        (metadata?.labels?.[labels.backingPool] ?? null) === this.#backingLabel(capacityReportKey, disks),
      hasAmount: (report) =>
        freeBytes === report.freeBytes &&
        largestBytes === report.largestBytes &&
        smallest === smallestText(report),
    };
  }

  async write(capacityReportKey: string, report: NewCapacityReport, signal: AbortSignal): Promise<void> {
    const [object, ...copies] = this.#objectsOf(capacityReportKey);
    for (const copy of copies) await this.#delete(copy, signal);
    const wanted = this.#objectFor(capacityReportKey, report, object);
    this.#written.set(capacityReportKey, contentOf(wanted));
    if (object === undefined) {
      await this.#client.create(wanted, { signal });
      return;
    }
    // The class and the segment cannot change. A size that the driver does not report any more is removed.
    const { capacity, maximumVolumeSize = null } = wanted;
    const { ownerReferences, annotations: notes } = wanted.metadata ?? {};
    // A record of drift, an earlier publisher and an earlier failure are removed, unless they are written again.
    const old = {
      [annotations.drift]: null,
      [annotations.minimumVolumeSize]: null,
      [annotations.publisherLease]: null,
      [annotations.capacityProblem]: null,
    };
    const backing = { [labels.backingPool]: this.#backingLabel(capacityReportKey, report.disks) };
    const metadata = {
      labels: { ...this.#labels, ...backing },
      annotations: { ...old, ...notes },
      ownerReferences,
    };
    const change = { metadata, capacity, maximumVolumeSize };
    await this.#patch(object, change, signal);
  }

  async remove(capacityReportKey: string, signal: AbortSignal): Promise<void> {
    for (const object of this.#objectsOf(capacityReportKey)) await this.#delete(object, signal);
    this.#written.delete(capacityReportKey);
  }

  /**
   * An annotation, since the kind has no conditions. It is written when a failure begins and ends, by publishers with a Lease: without one, the age of
   * the report is all that readers know.
   */
  async setProblem(
    capacityReportKey: string,
    { own }: { readonly own: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const [object] = this.#options.context.lease === undefined ? [] : this.#objectsOf(capacityReportKey);
    const known = object?.metadata?.annotations?.[annotations.capacityProblem];
    if (object === undefined || (known === undefined) === (own === undefined)) return;
    const change = { metadata: { annotations: { [annotations.capacityProblem]: own ?? null } } };
    await this.#patch(object, change, signal);
  }

  async #patch(object: Stored, change: object, signal: AbortSignal): Promise<void> {
    const { namespace, name = '' } = object.metadata ?? {};
    const body = withPreconditions(object, change);
    await this.#client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  }

  #set(object: Stored, listener: (capacityReportKey: string) => void): void {
    const capacityReportKey = keyOfCapacityReport(object);
    const known = this.#objects.get(capacityReportKey) ?? new Map<string, Stored>();
    known.set(keyOf(object), object);
    this.#objects.set(capacityReportKey, known);
    if (known.size > 1 || this.#written.get(capacityReportKey) !== contentOf(object))
      listener(capacityReportKey);
  }

  /** The one to keep comes first: the oldest. */
  #objectsOf(capacityReportKey: string): readonly Stored[] {
    const rank = ({ metadata }: Stored) => `${metadata?.creationTimestamp} ${metadata?.name}`;
    return [...(this.#objects.get(capacityReportKey)?.values() ?? [])].sort((a, b) =>
      rank(a) < rank(b) ? -1 : 1,
    );
  }

  #objectFor(
    capacityReportKey: string,
    report: NewCapacityReport,
    before: Stored | undefined,
  ): CSIStorageCapacity {
    const { driver, namespace, nodeName, context } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    const backing = this.#backingLabel(capacityReportKey, report.disks);
    const drift = report.drift && formatDriftRecord(report.drift);
    const smallest = smallestText(report);
    return {
      metadata: {
        namespace,
        name: capacityName(driver, nodeName, capacityReportKey),
        labels: { ...this.#labels, ...(backing === null ? {} : { [labels.backingPool]: backing }) },
        annotations: {
          [annotations.measuredAt]: new Date(report.measuredAtMs).toISOString(),
          ...(drift === undefined ? {} : { [annotations.drift]: drift }),
          ...(smallest === undefined ? {} : { [annotations.minimumVolumeSize]: smallest }),
          ...(nodeName === undefined ? {} : { [annotations.publisherNode]: nodeName }),
          ...(context.lease === undefined ? {} : { [annotations.publisherLease]: context.lease }),
        },
        ...this.#ownersFor(before),
      },
      storageClassName,
      nodeTopology: { matchLabels: { ...segment } },
      capacity: quantityOfBytes(report.freeBytes),
      ...(report.largestBytes === undefined
        ? {}
        : { maximumVolumeSize: quantityOfBytes(report.largestBytes) }),
    };
  }

  /** A missing owner is added; those that others have added stay. */
  #ownersFor(before: Stored | undefined): { readonly ownerReferences?: readonly OwnerReference[] } {
    const { owner } = this.#options;
    if (owner === undefined) return {};
    const others = before?.metadata?.ownerReferences ?? [];
    const isThere = others.some(({ uid }) => uid === owner.uid);
    // Only one owner may be the controller: that of an earlier deployment gives way.
    const released = others.map((other) =>
      other.controller === true ? { ...other, controller: false } : other,
    );
    return { ownerReferences: isThere ? others : [...released, owner] };
  }

  #hasOwner({ metadata }: Stored): boolean {
    const { owner } = this.#options;
    return owner === undefined || metadata?.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
  }

  /** Null: no other object is about the same disks, as far as is known. */
  #backingLabel(capacityReportKey: string, { parameters, isShared }: CapacityReportDisks): string | null {
    if (!isShared) return null;
    const { driver, nodeName } = this.#options;
    const segmentKey = segmentKeyOf(capacityReportOfKey(capacityReportKey).segment);
    return digest(JSON.stringify([driver, nodeName ?? '', segmentKey, parameters]));
  }

  async #delete(object: Stored, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid, resourceVersion } = object.metadata ?? {};
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      await this.#client.delete({ namespace, name }, { preconditions, signal });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}

function smallestText({ smallestBytes }: Pick<NewCapacityReport, 'smallestBytes'>): string | undefined {
  return smallestBytes === undefined ? undefined : quantityOfBytes(smallestBytes);
}

function keyOfCapacityReport({ storageClassName = '', nodeTopology }: CSIStorageCapacity): string {
  return capacityReportKeyOf({ storageClassName, segment: nodeTopology?.matchLabels ?? {} });
}

/** The part of an object that this publisher writes, to recognise the object again. */
function contentOf({ metadata, capacity, maximumVolumeSize }: CSIStorageCapacity): string {
  const measuredAt = metadata?.annotations?.[annotations.measuredAt];
  const amounts = [capacity, maximumVolumeSize].map((amount) =>
    amount === undefined ? '' : String(bytesOf(amount)),
  );
  const smallest = metadata?.annotations?.[annotations.minimumVolumeSize];
  const backing = metadata?.labels?.[labels.backingPool];
  const owners = metadata?.ownerReferences?.map(({ uid }) => uid) ?? [];
  return JSON.stringify([...amounts, smallest, measuredAt, backing, owners]);
}
