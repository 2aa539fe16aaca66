import type { PoolForm } from '../../engine/records/pool-record.ts';
import type { DriftCapacityReport, DriftKind, DriftVolumes } from '../../kube/stowage/drift-record.ts';
import type { Note } from '../view/note.ts';

/**
 * The output of `stowage capacity --drift` for programs. Within a version, fields are only added and never change their meaning. Amounts are
 * quantities as Kubernetes writes them.
 */
export interface DriftReport {
  readonly apiVersion: 'stowage.dev/drift/v1';
  readonly kind: 'DriftReport';
  readonly pools: readonly PoolDriftLine[];
  readonly notes: readonly Note[];
}

/** The driver's report of a pool, and the known volumes in it. */
export interface PoolDriftLine {
  readonly pool: string;
  readonly source: PoolForm;
  readonly driver: string | undefined;
  readonly storageClass: string;
  /** The free bytes according to the driver; undefined if it published no number. */
  readonly reported: string | undefined;
  /** The sizes of the known volumes in the pool, or else those at the last capacity report; undefined if it is unknown which volumes are in it. */
  readonly ours: string | undefined;
  /** Promised to volumes that the report does not include. */
  readonly promised: string;
  /** Volumes that the driver lists and no PersistentVolume has; undefined if the driver does not list its volumes. */
  readonly foreign?: DriftVolumes | undefined;
  /** Volumes that the driver lists and no PersistentVolume has any more. */
  readonly leaked?: DriftVolumes | undefined;
  /** PersistentVolumes whose volume the driver does not list. */
  readonly lost?: DriftVolumes | undefined;
  /** The part of the difference that no listed volume explains. */
  readonly shrunk?: string | undefined;
  /** The reported free bytes less the expected ones; negative if bytes are missing. Undefined if the publisher has not compared the reports. */
  readonly difference: string | undefined;
  /** When the first report with a difference was measured. */
  readonly since?: string | undefined;
  /** The probable cause. */
  readonly cause: DriftKind | 'unknown';
  /** The report with which the difference was found. */
  readonly baseline?: DriftCapacityReport | undefined;
  /** The steps that a user can take. Stowage repairs nothing without a user. */
  readonly proposals: readonly string[];
}
