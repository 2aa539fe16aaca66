import type { Event as CoreEvent } from '../../../kube/api/stored/core.ts';
import type { Event as NewEvent } from '../../../kube/api/stored/events.ts';

/**
 * The same event can be read and written as `v1` and as `events.k8s.io/v1`, with different field names. The server
 * stores the `v1` form. Neither conversion loses anything.
 */
export function toCoreEvent(event: NewEvent): CoreEvent {
  return withoutAbsent({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: event.metadata,
    involvedObject: event.regarding,
    reason: event.reason,
    message: event.note,
    source: event.deprecatedSource,
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    count: event.deprecatedCount,
    type: event.type,
    eventTime: event.eventTime,
    series: event.series && withoutAbsent({ ...event.series, count: event.series.count || undefined }),
    action: event.action,
    related: event.related,
    reportingComponent: event.reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
  });
}

export function fromCoreEvent(event: CoreEvent): NewEvent {
  return withoutAbsent({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: event.metadata,
    eventTime: event.eventTime,
    series: event.series && { ...event.series, count: event.series.count ?? 0 },
    reportingController: event.reportingComponent || undefined,
    reportingInstance: event.reportingInstance || undefined,
    action: event.action,
    reason: event.reason,
    regarding: event.involvedObject,
    related: event.related,
    note: event.message,
    type: event.type,
    deprecatedSource: event.source,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    deprecatedCount: event.count,
  });
}

function withoutAbsent<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] === undefined) delete object[key];
  return object;
}
