// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { EventSource, ObjectReference } from './core-v1.ts';
import type { ObjectMeta } from './meta-v1.ts';

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
