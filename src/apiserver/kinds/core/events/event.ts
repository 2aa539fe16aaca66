import type { Event as CoreEvent, ObjectReference } from '../../../../kube/api/stored/core.ts';
import { nameRules } from '../../../validation/names.ts';
import type { RowContext, ServedKind, TableCell, TableColumn } from '../../served-kind.ts';
import { timeSince } from '../../table-cells.ts';
import { checkAnyEvent } from './event-validation.ts';

/** What the event kinds of both groups have in common. */
export const eventKindBase = {
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,
  hasNoDependents: true,
} as const;

export const eventColumns: readonly TableColumn[] = [
  { name: 'Last Seen', type: 'string' },
  { name: 'Type', type: 'string' },
  { name: 'Reason', type: 'string' },
  { name: 'Object', type: 'string' },
  { name: 'Subobject', type: 'string', priority: 1 },
  { name: 'Source', type: 'string', priority: 1 },
  { name: 'Message', type: 'string' },
  { name: 'First Seen', type: 'string', priority: 1 },
  { name: 'Count', type: 'string', priority: 1 },
  { name: 'Name', type: 'string', format: 'name', priority: 1 },
];

/** Events of the core group, in whose form both groups are stored. Sidecars write them, and `kubectl` reads them. */
export const coreEventKind: ServedKind<CoreEvent> = {
  ...eventKindBase,
  group: '',
  type: 'core/v1.Event',
  nameRule: nameRules.pathSegment,

  validate: (event, errors) => checkAnyEvent(event, errors, 'reportingComponent'),
  validateUpdate: (event, _old, errors) => checkAnyEvent(event, errors, 'reportingComponent'),

  selectableFields: {
    ...referenceFields('involvedObject', (event: CoreEvent) => event.involvedObject),
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent,
    source: ({ source, reportingComponent }) => source.component || reportingComponent,
    type: ({ type }) => type ?? '',
  },
  columns: eventColumns,
  row: eventRow,
};

type EventFields<T> = Readonly<Record<string, (event: T) => string>>;

export function referenceFields<T>(name: string, referenceOf: (event: T) => ObjectReference): EventFields<T> {
  const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
  return Object.fromEntries(
    parts.map((part) => [`${name}.${part}`, (event: T) => referenceOf(event)[part] ?? '']),
  );
}

export function eventRow(event: CoreEvent, { nowMs }: RowContext): readonly TableCell[] {
  const { involvedObject, series, firstTimestamp, lastTimestamp } = event;
  const firstSeen = timeSince(firstTimestamp ?? event.eventTime ?? undefined, nowMs);
  const lastSeen = lastTimestamp === null ? firstSeen : timeSince(lastTimestamp, nowMs);
  return [
    series ? timeSince(series.lastObservedTime ?? undefined, nowMs) : lastSeen,
    event.type ?? '',
    event.reason ?? '',
    objectCell(involvedObject),
    involvedObject.fieldPath ?? '',
    sourceCell(event),
    (event.message ?? '').trim(),
    firstSeen,
    // Events of `events.k8s.io` have no count outside of a series.
    series ? (series.count ?? 0) : event.count || 1,
    event.metadata.name ?? '',
  ];
}

function objectCell({ kind = '', name = '' }: ObjectReference): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceCell({ source, reportingComponent, reportingInstance }: CoreEvent): string {
  const component = source.component || reportingComponent;
  const instance = source.host || reportingInstance;
  return instance === '' ? component : `${component}, ${instance}`;
}
