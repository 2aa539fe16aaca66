import type { Event as CoreEvent } from '../../../kube/api/stored/core.ts';
import type { Event as NewEvent } from '../../../kube/api/stored/events.ts';
import { nameRules } from '../../validation/names.ts';
import { eventColumns, eventKindBase, eventRow, referenceFields } from '../core/events/event.ts';
import { checkAnyEvent, checkNewEvent, checkNewEventUpdate } from '../core/events/event-validation.ts';
import type { ServedKind, StoredObject } from '../served-kind.ts';
import { fromCoreEvent, toCoreEvent } from './event-conversion.ts';

/** Events of the newer group, which kube-scheduler writes. They are the same objects as those of the core group. */
export const eventsGroupEventKind: ServedKind<NewEvent> = {
  ...eventKindBase,
  group: 'events.k8s.io',
  type: 'events.k8s.io/v1.Event',
  nameRule: nameRules.dnsSubdomain,
  storedAs: {
    group: '',
    kind: 'Event',
    toStored: toCoreEvent,
    fromStored: (object: StoredObject) => fromCoreEvent(object as CoreEvent),
  },

  validate(event, errors) {
    const core = toCoreEvent(event);
    checkAnyEvent(core, errors, 'reportingController');
    checkNewEvent(core, errors);
  },
  validateUpdate(event, old, errors) {
    const core = toCoreEvent(event);
    checkAnyEvent(core, errors, 'reportingController');
    checkNewEventUpdate(core, toCoreEvent(old), errors);
  },

  selectableFields: {
    ...referenceFields('regarding', (event: NewEvent) => event.regarding),
    reason: ({ reason }) => reason ?? '',
    reportingController: ({ reportingController }) => reportingController ?? '',
    type: ({ type }) => type ?? '',
  },
  columns: eventColumns,
  row: (event, context) => eventRow(toCoreEvent(event), context),
};
