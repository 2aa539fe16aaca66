import type { Event, EventSeries } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { utf8Length } from '../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { immutableMessage } from '../../../validation/immutable.ts';
import { internalForm } from '../../../validation/internal-form.ts';
import { dnsSubdomainProblems, qualifiedNameProblems } from '../../../validation/names.ts';

/**
 * Rules of both groups. An event with `eventTime` must satisfy the rules of `events.k8s.io`; events of old clients have
 * none and may be nearly empty. `reporterField`: the name of the reporter field, which differs between the groups.
 */
export function checkAnyEvent(event: Event, errors: FieldErrors, reporterField: string): void {
  if (event.eventTime === null) checkOldNamespace(event, errors);
  else checkNewFields(event, errors, reporterField);
  const namespace = event.metadata.namespace ?? '';
  errors.invalidFor('namespace', namespace, dnsSubdomainProblems(namespace));
}

/** Rules that only `events.k8s.io/v1` has. */
export function checkNewEvent(event: Event, errors: FieldErrors): void {
  checkSeries(event.series, errors);
  if (event.eventTime === null) errors.required('eventTime');
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.invalid('type', '', `has invalid value: ${event.type ?? ''}`);
  }
  const { component, host } = event.source;
  const deprecated: Readonly<Record<string, boolean>> = {
    firstTimestamp: event.firstTimestamp !== null,
    lastTimestamp: event.lastTimestamp !== null,
    count: (event.count ?? 0) !== 0,
    source: Boolean(component) || Boolean(host),
  };
  for (const [field, isSet] of Object.entries(deprecated)) {
    if (isSet) errors.invalid(field, '', 'needs to be unset');
  }
}

/** An update may change only the series: the event occurred again. */
export function checkNewEventUpdate(event: Event, old: Event, errors: FieldErrors): void {
  if (!isSemanticallyEqual(event.series, old.series)) checkSeries(event.series, errors);
  for (const field of fixedFields) {
    const [value, before] = [event[field], old[field]];
    if (isSemanticallyEqual(value, before)) continue;
    errors.invalid(shownNames[field] ?? field, shownValue(field, value), immutableMessage);
  }
}

const bytesMax = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

/** Immutable fields in Kubernetes' order, which contains the reason twice. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

type FixedField = (typeof fixedFields)[number];

const shownNames: Readonly<Partial<Record<FixedField, string>>> = {
  reportingComponent: 'reportingController',
};

/** The value as kube-apiserver prints it in errors: with Go field names. */
function shownValue(field: FixedField, value: unknown): unknown {
  if (field === 'involvedObject' || field === 'related') return value ? shownReference(value) : null;
  if (field === 'source') return shownFields(value ?? {}, ['component', 'host']);
  if (field === 'count') return value ?? 0;
  return value ?? (field.endsWith('Time') || field.endsWith('Timestamp') ? null : '');
}

function shownReference(value: object): object {
  const names = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return shownFields(value, names);
}

function shownFields(value: object, names: readonly string[]): object {
  return internalForm(value, names, Object.fromEntries(names.map((name) => [name, ''])));
}

function checkSeries(series: EventSeries | undefined, errors: FieldErrors): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) errors.invalid('series.count', '', 'should be at least 2');
  if (series.lastObservedTime === null) errors.required('series.lastObservedTime');
}

function wrongNamespace(errors: FieldErrors, namespace: string): void {
  errors.invalid('involvedObject.namespace', namespace, 'does not match event.namespace');
}

/** Events about objects without a namespace are in `default`. */
function checkOldNamespace({ metadata, involvedObject }: Event, errors: FieldErrors): void {
  const { namespace = '' } = metadata;
  const about = involvedObject.namespace ?? '';
  const isValid = about === '' ? namespace === '' || namespace === 'default' : namespace === about;
  if (!isValid) wrongNamespace(errors, about);
}

function checkNewFields(event: Event, errors: FieldErrors, reporterField: string): void {
  const { metadata, involvedObject, reportingComponent, reportingInstance } = event;
  const { action = '', reason = '', message = '' } = event;
  const about = involvedObject.namespace ?? '';
  if (about === '' && !['default', 'kube-system'].includes(metadata.namespace ?? '')) {
    wrongNamespace(errors, about);
  }
  if (reportingComponent === '') errors.required(reporterField);
  errors.invalidFor(reporterField, reportingComponent, qualifiedNameProblems(reportingComponent));
  const texts = { reportingInstance, action, reason };
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    if (texts[field] === '') errors.required(field);
    checkLength(errors, field, texts[field]);
  }
  checkLength(errors, 'message', message);
}

function checkLength(errors: FieldErrors, field: keyof typeof bytesMax, text: string): void {
  const max = bytesMax[field];
  if (utf8Length(text) > max) errors.invalid(field, '', `can have at most ${max} characters`);
}
