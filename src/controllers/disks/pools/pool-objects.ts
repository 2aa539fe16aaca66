import type { Projected } from '../../../cluster/cluster.ts';
import type { PoolCapacityReport } from '../../../engine/disks/pool-capacity.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { withPreconditions } from '../../../kube/patch-preconditions.ts';
import { bytesOf, quantityOfBytes } from '../../../kube/quantities/bytes.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { csiStorageCapacities, storageClasses } from '../../../kube/resources.ts';
import { disksDriver } from '../../../kube/stowage/volume.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { Informer } from '../../../reconcile/informer/informer.ts';
import type { BackgroundWork } from '../../../runtime/supervisor.ts';
import { capacityDefaults } from '../../capacity-settings.ts';
import { capacityName, digest, publisherLabels } from '../../published-names.ts';

const { namespace } = capacityDefaults;
const ownLabels = publisherLabels(disksDriver, undefined);

/**
 * The published capacity: a CSIStorageCapacity for each class, which every node reaches. Its name follows from the class, so a repeated creation finds
 * it; every other write carries the version that it replaces.
 */
export class PoolObjects {
  readonly #context: ControllerContext;
  readonly #informer: Informer<CSIStorageCapacity>;
  readonly #work: BackgroundWork;

  constructor(context: ControllerContext) {
    this.#context = context;
    const labelSelector = Object.entries(ownLabels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    this.#informer = new Informer({
      cluster: context.cluster,
      resource: csiStorageCapacities,
      selection: { namespace, labelSelector },
      clock: context.clock,
      random: context.random.fork('disk-pools'),
      purpose: 'disks',
    });
    this.#work = this.#informer.start(context.supervisor);
  }

  async close(): Promise<void> {
    await this.#work.stop();
  }

  synced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.synced(signal);
  }

  listen(changed: () => void): () => void {
    return this.#informer.addHandler({ added: changed, updated: changed, deleted: changed });
  }

  /** When the published capacity of the class was measured; undefined if there is none, or if it differs from this report. */
  measuredAtMs(figure: PoolCapacityReport): number | undefined {
    const { metadata, capacity, maximumVolumeSize } = this.#objectOf(figure.className) ?? {};
    const isSame =
      bytesOf(capacity) === figure.totalBytes &&
      capacity !== undefined &&
      maximumVolumeSize !== undefined &&
      bytesOf(maximumVolumeSize) === figure.largestBytes &&
      metadata?.labels?.[labels.backingPool] === backingOf(figure) &&
      metadata.ownerReferences?.some(({ uid }) => uid === figure.classUid) === true;
    return isSame ? parseTimestamp(metadata.annotations?.[annotations.measuredAt]) : undefined;
  }

  async write(figure: PoolCapacityReport, measuredAtMs: number, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(csiStorageCapacities);
    const before = this.#objectOf(figure.className);
    const { metadata, ...figures } = objectOf(figure, measuredAtMs);
    if (before === undefined) {
      await client.create({ metadata, ...figures, ...location(figure) }, { signal });
      return;
    }
    const { name = '' } = metadata;
    const body = withPreconditions(before, { metadata, ...figures });
    await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  }

  /** Deletes the objects of all other classes. */
  async keepOnly(
    classNames: ReadonlySet<string>,
    beforeWrite: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (const object of this.#informer.values()) {
      const { name = '', uid } = object.metadata ?? {};
      const className = object.storageClassName ?? '';
      if (classNames.has(className) && name === nameFor(className)) continue;
      beforeWrite();
      try {
        const client = this.#context.cluster.resource(csiStorageCapacities);
        await client.delete({ namespace, name }, { preconditions: { ...(uid && { uid }) }, signal });
      } catch (error) {
        if (!isReason(error, 'NotFound')) throw error;
      }
    }
  }

  #objectOf(className: string): Projected<CSIStorageCapacity> | undefined {
    return this.#informer.get(`${namespace}/${nameFor(className)}`);
  }
}

function nameFor(className: string): string {
  return capacityName(disksDriver, undefined, className);
}

/** Equal for classes that use the same disks. */
function backingOf({ disks }: PoolCapacityReport): string {
  return `disks-${digest(disks.join())}`;
}

/** The class and the nodes of an object cannot change. */
function location({ className }: PoolCapacityReport) {
  return { storageClassName: className, nodeTopology: { matchLabels: {} } };
}

function objectOf(report: PoolCapacityReport, measuredAtMs: number) {
  const { className, classUid, totalBytes, largestBytes } = report;
  const { kind } = storageClasses;
  return {
    metadata: {
      namespace,
      name: nameFor(className),
      labels: { ...ownLabels, [labels.backingPool]: backingOf(report) },
      annotations: { [annotations.measuredAt]: new Date(measuredAtMs).toISOString() },
      // The garbage collector deletes the object with its class, also while this controller does not run.
      ownerReferences: [{ apiVersion: apiVersionOf(storageClasses), kind, name: className, uid: classUid }],
    },
    capacity: quantityOfBytes(totalBytes),
    maximumVolumeSize: quantityOfBytes(largestBytes),
  };
}
