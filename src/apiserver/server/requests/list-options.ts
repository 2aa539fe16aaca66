import { invalid } from '../../../kube/api-error.ts';
import type { ListQuery, WatchQuery } from '../../registry/registry.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { boolParameter, intParameter, textParameter } from './query-values.ts';

/** The options of a list, a watch or a collection deletion. */
export interface ListRequestOptions {
  readonly list: ListQuery;
  readonly watch: WatchQuery;
  /** Undefined if the server may choose. */
  readonly timeoutSeconds: number | undefined;
}

export function isWatchRequest(query: URLSearchParams): boolean {
  return boolParameter(query, 'watch') ?? false;
}

/** Throws if options are invalid. The registry checks selectors and versions. */
export function readListOptions(
  query: URLSearchParams,
  namespace: string | undefined,
  isWatch: boolean,
): ListRequestOptions {
  const selection = {
    namespace,
    labelSelector: textParameter(query, 'labelSelector'),
    fieldSelector: textParameter(query, 'fieldSelector'),
  };
  const version = {
    resourceVersion: textParameter(query, 'resourceVersion'),
    resourceVersionMatch: textParameter(query, 'resourceVersionMatch'),
  };
  const limit = intParameter(query, 'limit');
  const list = { ...selection, ...version, limit: limit === undefined || limit <= 0 ? undefined : limit };
  const options: ListRequestOptions = {
    list: { ...list, continue: textParameter(query, 'continue') },
    watch: {
      ...selection,
      ...version,
      ...initialEventsOptions(query, version, isWatch),
      bookmarks: boolParameter(query, 'allowWatchBookmarks') ?? false,
    },
    timeoutSeconds: positive(intParameter(query, 'timeoutSeconds')),
  };
  const errors = new FieldErrors();
  if (isWatch) checkWatch(options, errors);
  else checkList(options, errors);
  if (!errors.isEmpty) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors.causes);
  return options;
}

/** A watch without a version behaves as one with initial events: it marks their end, and the same rules apply. */
function initialEventsOptions(
  query: URLSearchParams,
  { resourceVersion, resourceVersionMatch }: Pick<WatchQuery, 'resourceVersion' | 'resourceVersionMatch'>,
  isWatch: boolean,
): Pick<WatchQuery, 'sendInitialEvents' | 'resourceVersionMatch'> {
  const requested = boolParameter(query, 'sendInitialEvents');
  const isFromStart = resourceVersion === undefined || resourceVersion === '0';
  if (!isWatch || requested !== undefined || !isFromStart || resourceVersionMatch !== undefined) {
    return { sendInitialEvents: requested, resourceVersionMatch };
  }
  return { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

/** kube-apiserver treats zero and negative values as unset. */
function positive(seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds <= 0 ? undefined : seconds;
}

const matchField = 'resourceVersionMatch';

function checkList({ list, watch }: ListRequestOptions, errors: FieldErrors): void {
  const match = list.resourceVersionMatch;
  if (match !== undefined) {
    if (list.resourceVersion === undefined) {
      errors.forbidden(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    }
    if (list.continue !== undefined) forbidContinue(errors);
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.notSupported(matchField, match, ['Exact', 'NotOlderThan', '']);
    }
    if (match === 'Exact' && list.resourceVersion === '0') {
      errors.forbidden(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (watch.sendInitialEvents !== undefined) {
    errors.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
}

function checkWatch({ list, watch }: ListRequestOptions, errors: FieldErrors): void {
  const match = watch.resourceVersionMatch;
  if (watch.sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.forbidden(matchField, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match === undefined) return;
  if (watch.sendInitialEvents === undefined) {
    const reason = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    errors.forbidden(matchField, reason);
  }
  if (match !== 'NotOlderThan') errors.notSupported(matchField, match, ['NotOlderThan']);
  if (list.continue !== undefined) forbidContinue(errors);
}

function forbidContinue(errors: FieldErrors): void {
  errors.forbidden(matchField, 'resourceVersionMatch is forbidden when continue is provided');
}
