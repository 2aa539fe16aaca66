import { expect, test } from 'vitest';
import type { Event as CoreEvent } from '../../../kube/api/stored/core.ts';
import type { Event as NewEvent } from '../../../kube/api/stored/events.ts';
import { normalize } from '../../schema/normalize.ts';
import { coreEventKind } from '../core/events/event.ts';
import { eventsGroupEventKind } from './event.ts';
import { fromCoreEvent } from './event-conversion.ts';

const nowMs = Date.UTC(2024, 0, 2, 4, 0, 0);

function event(fields: object): CoreEvent {
  return normalize('core/v1.Event', {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u' },
    ...fields,
  }).object as unknown as CoreEvent;
}

const lastSeen = 0;
const firstSeen = 7;
const count = 8;

test.each([
  [
    'its own times',
    { firstTimestamp: '2024-01-02T02:00:00Z', lastTimestamp: '2024-01-02T03:59:00Z', count: 4 },
    '60s',
    '120m',
    4,
  ],
  ['only a first time', { firstTimestamp: '2024-01-02T02:00:00Z' }, '120m', '120m', 1],
  ['the time of a new event', { eventTime: '2024-01-02T03:59:50.000000Z' }, '10s', '10s', 1],
  [
    'a series',
    {
      eventTime: '2024-01-02T03:00:00.000000Z',
      series: { count: 9, lastObservedTime: '2024-01-02T03:59:55.000000Z' },
    },
    '5s',
    '60m',
    9,
  ],
  ['nothing', {}, '<unknown>', '<unknown>', 1],
])('the row of an event with %s', (_name, fields, last, first, times) => {
  const core = event(fields);
  for (const cells of [
    coreEventKind.row(core, { nowMs }),
    eventsGroupEventKind.row(fromCoreEvent(core), { nowMs }),
  ]) {
    expect([cells[lastSeen], cells[firstSeen], cells[count]]).toEqual([last, first, times]);
  }
});

test('field selectors of both groups use their own field names', () => {
  const core = event({
    reason: 'R',
    type: 'Normal',
    source: { component: 'kubelet' },
    reportingComponent: 'k',
  });
  const fieldsOf = (fields: Readonly<Record<string, (one: never) => string>> | undefined, object: unknown) =>
    Object.fromEntries(Object.entries(fields ?? {}).map(([name, read]) => [name, read(object as never)]));
  expect(fieldsOf(coreEventKind.selectableFields, core)).toEqual({
    'involvedObject.kind': 'Pod',
    'involvedObject.namespace': 'ns',
    'involvedObject.name': 'p',
    'involvedObject.uid': 'u',
    'involvedObject.apiVersion': '',
    'involvedObject.resourceVersion': '',
    'involvedObject.fieldPath': '',
    reason: 'R',
    reportingComponent: 'k',
    source: 'kubelet',
    type: 'Normal',
  });
  const newer: NewEvent = fromCoreEvent(core);
  expect(fieldsOf(eventsGroupEventKind.selectableFields, newer)).toMatchObject({
    'regarding.uid': 'u',
    reportingController: 'k',
    reason: 'R',
    type: 'Normal',
  });
  expect(eventsGroupEventKind.selectableFields).not.toHaveProperty('source');
});

test('the field selector source falls back to reportingComponent', () => {
  expect(coreEventKind.selectableFields?.source?.(event({ reportingComponent: 'me' }))).toBe('me');
});
