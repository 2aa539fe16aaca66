// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { EventSource, EventType, ObjectReference } from './core.ts';
import type { KubeObject, Timestamp } from './meta.ts';

/**
 * The server stores it as the same object as the core group's event, which has the same fields under their
 * older names.
 */
export interface Event extends KubeObject {
  readonly eventTime?: Timestamp | null;
  readonly series?: EventSeries;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type?: EventType;
  readonly deprecatedSource?: EventSource;
  readonly deprecatedFirstTimestamp?: Timestamp | null;
  readonly deprecatedLastTimestamp?: Timestamp | null;
  readonly deprecatedCount?: number;
}

/** A repeated event: how often, and when last. */
export interface EventSeries {
  readonly count?: number;
  readonly lastObservedTime?: Timestamp | null;
}
