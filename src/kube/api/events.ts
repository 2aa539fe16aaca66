import type { KubeObject, ObjectReference, Timestamp } from './meta.ts';

/**
 * `events.k8s.io/v1`: something happened to `regarding`. The server keeps it together with the core group's events, which show
 * the same fields by their older names.
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
}

/** The same event again and again: how often, and when last. */
export interface EventSeries {
  readonly count?: number;
  readonly lastObservedTime?: Timestamp;
}

export type EventType = 'Normal' | 'Warning';
