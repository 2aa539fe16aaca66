import type { KubeObject } from '../../kube/api/meta.ts';
import { isRecord } from '../../kube/wire.ts';
import type { ConsoleRecord, HistorySeries, SeenSteps } from '../wire/answers.ts';

/** Key in the metadata of the list for the time of the snapshot. */
export const takenAtKey = 'stowage.dev/taken-at';

const recordNames = { apiVersion: 'stowage.dev/console/v1', kind: 'ConsoleRecord' } as const;

/** The beginning of a snapshot: a list of objects. The time is where it is found without reading the whole file. */
export function snapshotHead(nowMs: number): string {
  const head = { apiVersion: 'v1', kind: 'List', metadata: { [takenAtKey]: new Date(nowMs).toISOString() } };
  return `${JSON.stringify(head).slice(0, -1)},"items":[\n`;
}

/** The last item, and the end of the list. */
export function snapshotTail(record: ConsoleRecord): string {
  return `${JSON.stringify({ ...recordNames, ...record })}\n]}\n`;
}

/** The record in an item of a snapshot; undefined for other items. */
export function readRecordItem(item: KubeObject): ConsoleRecord | undefined {
  const { apiVersion, kind } = item;
  return apiVersion === recordNames.apiVersion && kind === recordNames.kind
    ? readConsoleRecord(item)
    : undefined;
}

/** Reads a record from a file or a server; undefined if it is none. A record of another version may have fields that are not known here. */
export function readConsoleRecord(value: unknown): ConsoleRecord | undefined {
  if (!isRecord(value) || !isRecord(value.history)) return undefined;
  const { timesMs, series, note } = value.history;
  if (!isNumbers(timesMs) || !Array.isArray(series)) return undefined;
  const isSeries = (each: unknown): each is HistorySeries =>
    isRecord(each) &&
    typeof each.group === 'string' &&
    typeof each.name === 'string' &&
    isNumbersOrNull(each.values) &&
    each.values.length === timesMs.length;
  const steps = isRecord(value.steps) ? Object.entries(value.steps).flatMap(stepsOf) : [];
  return {
    isComplete: value.isComplete === true,
    history: { timesMs, series: series.filter(isSeries), ...(typeof note === 'string' && { note }) },
    steps: Object.fromEntries(steps),
  };
}

const stepNames = ['decisionMs', 'reservationMs', 'bindingMs', 'assignedMs', 'runningMs'] as const;

function stepsOf([uid, value]: readonly [string, unknown]): (readonly [string, SeenSteps])[] {
  if (!isRecord(value)) return [];
  const known = stepNames.flatMap((name) => (isTime(value[name]) ? [[name, value[name]] as const] : []));
  return [[uid, Object.fromEntries(known)]];
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isTime);
}

function isNumbersOrNull(value: unknown): value is readonly (number | null)[] {
  return Array.isArray(value) && value.every((each) => each === null || isTime(each));
}
