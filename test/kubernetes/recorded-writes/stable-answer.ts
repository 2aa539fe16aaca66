import type { StoredObject } from '../../../src/apiserver/kinds/served-kind.ts';
import type { RecordedWrite, WriteAnswer } from '../../../src/apiserver/kinds/testing/recorded-writes.ts';
import type { Status, StatusCause } from '../../../src/kube/api/meta.ts';
import { recordedUid, type SentWrite } from './write-sender.ts';

/** The answer in the form of the recordings: without what differs from run to run and what admission adds. */
export function stableAnswer(write: RecordedWrite, sent: SentWrite): WriteAnswer {
  if (sent.status >= 300) {
    const { details, message } = sent.body as Status;
    const causes = details?.causes ?? [{ message: message ?? '' }];
    return { causes: causes.map((cause) => stableCause(cause, sent.uid)) };
  }
  const text = JSON.stringify(sent.body).replaceAll(sent.uid ?? recordedUid, recordedUid);
  const stored = stableObject(withStableAddresses(JSON.parse(text), write));
  return { stored, ...(sent.warnings.length > 0 && { warnings: sent.warnings }) };
}

/** Equal for equal answers: keys are sorted, causes have no order, times of the recording are left out. */
export function comparable({ stored, causes, warnings }: WriteAnswer): unknown {
  return sorted({
    stored: stored && stableObject(stored as StoredObject),
    causes: causes?.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).sort(),
    warnings: warnings?.toSorted(),
  });
}

function stableCause({ reason, message = '', field }: StatusCause, uid: string | undefined): StatusCause {
  const text = message
    .replaceAll(uid ?? anyUid, recordedUid)
    // A diff of Go structs.
    .replace(/\n@@ .*$/s, '')
    .replace(/^Invalid value: \{.{150,}\}: field is immutable$/s, 'Invalid value: {...}: field is immutable');
  return { ...(reason && { reason }), message: text, ...(field && { field }) };
}

const anyUid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function stableObject(object: StoredObject): StoredObject {
  const copy: StoredObject & { spec?: PodSpec } = structuredClone(object);
  const { metadata } = copy;
  delete metadata.uid;
  delete metadata.resourceVersion;
  delete metadata.creationTimestamp;
  delete metadata.managedFields;
  metadata.finalizers = withoutMatching(metadata.finalizers, (name) => protection.test(name));
  if (copy.kind === 'Pod' && copy.spec !== undefined) {
    delete copy.spec.priority;
    delete copy.spec.preemptionPolicy;
    copy.spec.tolerations = withoutMatching(copy.spec.tolerations, ({ key = '' }) =>
      addedToleration.test(key),
    );
  }
  return withoutTimes(copy);
}

interface PodSpec {
  priority?: number;
  preemptionPolicy?: string;
  tolerations?: readonly { readonly key?: string }[] | undefined;
}

const protection = /^kubernetes\.io\/(pv|pvc|vac)-protection$/;
const addedToleration = /^node\.kubernetes\.io\/(not-ready|unreachable)$/;

function withoutMatching<T>(list: readonly T[] | undefined, matches: (item: T) => boolean): T[] | undefined {
  const rest = list?.filter((item) => !matches(item)) ?? [];
  return rest.length === 0 ? undefined : rest;
}

/** Times that the server set: those of now, and their replacements in the recordings. */
function withoutTimes(object: StoredObject): StoredObject {
  return JSON.parse(JSON.stringify(object), (key, value) =>
    /Time$|^timeAdded$/.test(key) && isSetByServer(value) ? undefined : value,
  );
}

const recordedTime = '2026-01-02T03:04:05Z';

function isSetByServer(value: unknown): boolean {
  return value === null || value === recordedTime || Date.parse(String(value)) > startedMs;
}

const startedMs = Date.now() - 60_000;

/** A dry run picks addresses and ports at random; the recordings have the lowest free ones. */
function withStableAddresses(object: StoredObject, { old, object: given }: RecordedWrite): StoredObject {
  if (object.kind !== 'Service') return object;
  const known = new Set(JSON.stringify([old, given]).match(/\b3\d{4}\b/g));
  const text = JSON.stringify(object).replaceAll('"10.96.0.0"', '"10.96.0.2"');
  const replacements = new Map<number, number>();
  let next = 30_000;
  return JSON.parse(text, (key, value) => {
    if ((key !== 'nodePort' && key !== 'healthCheckNodePort') || known.has(String(value))) return value;
    while (known.has(String(next))) next += 1;
    if (!replacements.has(value)) replacements.set(value, next++);
    return replacements.get(value);
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  );
}
