// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { EventSource, ObjectReference } from './core.ts';
import type { ObjectMeta } from './meta.ts';

export interface Event {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  eventTime: string | null;
  series?: EventSeries | undefined;
  reportingController?: string | undefined;
  reportingInstance?: string | undefined;
  action?: string | undefined;
  reason?: string | undefined;
  regarding: ObjectReference;
  related?: ObjectReference | undefined;
  note?: string | undefined;
  type?: string | undefined;
  deprecatedSource: EventSource;
  deprecatedFirstTimestamp: string | null;
  deprecatedLastTimestamp: string | null;
  deprecatedCount?: number | undefined;
}

export interface EventSeries {
  count: number;
  lastObservedTime: string | null;
}
