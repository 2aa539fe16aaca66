import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event as CoreEvent } from '../../../kube/api/stored/core.ts';
import type { Event as NewEvent } from '../../../kube/api/stored/events.ts';
import { normalize } from '../../schema/normalize.ts';
import { fromCoreEvent, toCoreEvent } from './event-conversion.ts';

const text = fc.constantFrom('', 'a', 'Scheduled', 'ü');
const count = fc.constantFrom(0, 1, 7);
const time = fc.constantFrom(null, '2024-01-02T03:04:05Z');
const microTime = fc.constantFrom(null, '2024-01-02T03:04:05.123456Z');
const reference = fc.record({ kind: text, name: text, namespace: text, uid: text }, { requiredKeys: [] });
const metadata = fc.record({ name: text, namespace: text, labels: fc.dictionary(text, text) });
const series = fc.record({ count, lastObservedTime: microTime });

const optional = { requiredKeys: [] };

const coreEvents = fc
  .record(
    {
      metadata,
      involvedObject: reference,
      reason: text,
      message: text,
      source: fc.record({ component: text, host: text }, optional),
      firstTimestamp: time,
      lastTimestamp: time,
      count,
      type: text,
      eventTime: microTime,
      series,
      action: text,
      related: reference,
      reportingComponent: text,
      reportingInstance: text,
    },
    optional,
  )
  .map((event) => normalize('core/v1.Event', { apiVersion: 'v1', kind: 'Event', ...event }).object);

const newEvents = fc
  .record(
    {
      metadata,
      eventTime: microTime,
      series,
      reportingController: text,
      reportingInstance: text,
      action: text,
      reason: text,
      regarding: reference,
      related: reference,
      note: text,
      type: text,
      deprecatedSource: fc.record({ component: text, host: text }, optional),
      deprecatedFirstTimestamp: time,
      deprecatedLastTimestamp: time,
      deprecatedCount: count,
    },
    optional,
  )
  .map((event) => ({ apiVersion: 'events.k8s.io/v1', kind: 'Event', ...event }))
  .map((event) => normalize('events.k8s.io/v1.Event', event).object);

describe('conversion between the groups', () => {
  test('round-trips events of the core group', () => {
    fc.assert(
      fc.property(coreEvents, (event) => {
        const before = structuredClone(event);
        expect(toCoreEvent(fromCoreEvent(event as unknown as CoreEvent))).toEqual(before);
        expect(event).toEqual(before);
      }),
      { seed: 1 },
    );
  });

  test('round-trips events of events.k8s.io', () => {
    fc.assert(
      fc.property(newEvents, (event) => {
        const before = structuredClone(event);
        expect(fromCoreEvent(toCoreEvent(event as unknown as NewEvent))).toEqual(before);
        expect(event).toEqual(before);
      }),
      { seed: 1 },
    );
  });

  test('produces the normal form, which can be stored unchanged', () => {
    fc.assert(
      fc.property(newEvents, coreEvents, (newer, core) => {
        const stored = toCoreEvent(newer as unknown as NewEvent);
        expect(normalize('core/v1.Event', stored).object).toEqual(stored);
        const read = fromCoreEvent(core as unknown as CoreEvent);
        expect(normalize('events.k8s.io/v1.Event', read).object).toEqual(read);
      }),
      { seed: 1 },
    );
  });
});

test('only field names differ', () => {
  const event = normalize('events.k8s.io/v1.Event', {
    metadata: { name: 'e' },
    eventTime: '2024-01-02T03:04:05.000000Z',
    reportingController: 'example.com/c',
    regarding: { kind: 'Pod', name: 'p' },
    note: 'text',
    deprecatedCount: 3,
    deprecatedSource: { component: 'c' },
  }).object as unknown as NewEvent;
  expect(toCoreEvent(event)).toMatchObject({
    apiVersion: 'v1',
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'text',
    count: 3,
    source: { component: 'c' },
    reportingComponent: 'example.com/c',
  });
});
