import type { NodeSelector } from '../api/core.ts';
import type { Condition, KubeObject, QuantityText, Timestamp } from '../api/meta.ts';
import { textOf } from '../wire.ts';
import type { DriftRecord } from './drift-record.ts';

/**
 * Pools of one CSI driver: `stowage.dev/v1alpha1`, cluster-scoped. Several objects may carry pools of one driver, such as one for each
 * node. Unlike CSIStorageCapacity it has several pools per class, pools for ephemeral volumes, and expiry times of the reported capacity.
 */
export interface DriverCapacity extends KubeObject {
  readonly spec?: DriverCapacitySpec;
  readonly status?: DriverCapacityStatus;
}

export interface DriverCapacitySpec {
  /** The driver whose pools these are; absent: the object's own name. */
  readonly driver?: string;
  /** True: a volume of the driver fits only where a pool has the capacity. */
  readonly capacityTracking?: boolean;
}

/** The driver whose pools the object carries: `spec.driver`, else the object's own name. */
export function driverOfCapacity(object: KubeObject): string {
  const { spec, metadata } = object as DriverCapacity;
  return textOf(spec?.driver) || textOf(metadata?.name);
}

export interface DriverCapacityStatus {
  /** A list-map with the key `storageClassName`, so that several writers can apply to their own entry. */
  readonly storage?: readonly DriverClassCapacity[];
  readonly conditions?: readonly Condition[];
}

export interface DriverClassCapacity {
  /** A StorageClass, {@link ephemeralStorageClassName} or {@link fallbackStorageClassName}. */
  readonly storageClassName?: string;
  /** A list-map with the key `name`. */
  readonly pools?: readonly StoragePool[];
}

/** At most one of `nodeTopology` and `nodeList` may be set; with neither, every node reaches the pool. */
export interface StoragePool {
  readonly name?: string;
  readonly nodeTopology?: NodeSelector;
  readonly nodeList?: readonly string[];
  /** The largest volume that can be created now. */
  readonly capacity?: QuantityText;
  /** The smallest volume that the driver creates: smaller claims take as much; absent: any size. */
  readonly minimumVolume?: QuantityText;
  /** When this entry expires; absent means never. */
  readonly expiryTime?: Timestamp;
  /** When the driver was asked for the capacity, with fractions of a second; absent: unknown. */
  readonly measuredAt?: Timestamp;
  /** The difference between the capacity and the known volumes; absent: not compared yet. */
  readonly drift?: DriftRecord;
}

/** Applies to every class (and to ephemeral volumes) without its own entry. */
export const fallbackStorageClassName = '<fallback>';

/** Applies to ephemeral inline volumes, which have no class. */
export const ephemeralStorageClassName = '<ephemeral>';

export const stowageGroup = 'stowage.dev';
export const stowageVersion = 'v1alpha1';
export const stowageApiVersion = `${stowageGroup}/${stowageVersion}`;
