import type { Size } from '../../size.ts';

/** The writes that the pod needs to run on the chosen node. Each rule adds its part. */
export interface Decisions {
  readonly bindings: ClaimBinding[];
  readonly provisions: Provision[];
  readonly inlineVolumes: InlineReservation[];
}

/** A claim gets an existing volume. The decision was made on these resourceVersions; a later version makes it void. */
export interface ClaimBinding {
  readonly claim: string;
  readonly claimUid: string;
  readonly claimVersion: string;
  readonly volume: string;
  readonly volumeVersion: string;
  readonly requested: Size;
  readonly capacity: Size;
}

/** A claim gets a new volume, provisioned for the node. */
export interface Provision {
  readonly claim: string;
  readonly claimUid: string;
  readonly claimVersion: string;
  readonly className: string;
  readonly driver: string;
  readonly requested: Size;
  /** Undefined if the driver publishes no capacity. */
  readonly pool: PoolChoice | undefined;
  /** Where the driver may create the volume, by the labels of its topology: a node there fits the pod. Undefined if that is unknown. */
  readonly fittingSegments?: readonly VolumeSegment[];
  /** The pool is a drive, and gets no other volume of this group. */
  readonly spreadGroup?: string;
}

/** Labels with their values, for each topology key of a driver. */
export type VolumeSegment = Readonly<Record<string, string>>;

/** An inline volume of the pod uses capacity without a claim. */
export interface InlineReservation {
  readonly volume: string;
  readonly driver: string;
  readonly requested: Size;
  readonly pool: PoolChoice;
}

export interface PoolChoice {
  readonly key: string;
  readonly name: string;
  /** True: the pool is the Drive of this name. */
  readonly isDrive?: boolean;
}
