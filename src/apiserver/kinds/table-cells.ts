import type { LabelSelector, LabelSelectorRequirement } from '../../kube/api/stored/meta.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import type { RowContext, StoredObject, TableColumn } from './served-kind.ts';

/** The cells of `kubectl get` for absent values. */
export const noneCell = '<none>';
export const unknownCell = '<unknown>';
export const unsetCell = '<unset>';

export const nameColumn: TableColumn = { name: 'Name', type: 'string', format: 'name' };
export const ageColumn: TableColumn = { name: 'Age', type: 'string' };

/** The time since the creation of the object. */
export function age(object: StoredObject, { nowMs }: RowContext): string {
  return timeSince(object.metadata.creationTimestamp, nowMs);
}

export function timeSince(timestamp: string | undefined, nowMs: number): string {
  const ms = parseTimestamp(timestamp);
  return ms === undefined ? unknownCell : humanDuration(nowMs - ms);
}

/**
 * Formats a duration as `kubectl` does: at most two units, the second only for small values of the first. Clock
 * differences of about a second are tolerated.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * 60) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  return longDuration(Math.trunc(minutes / 60), minutes % 60);
}

/** For example `app=web,tier in (a,b),!canary`, sorted by key; `<none>` if it selects nothing by label. */
export function labelSelectorCell(selector: LabelSelector | undefined): string {
  const equalities = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const requirements = (selector?.matchExpressions ?? []).map((requirement) => ({
    key: requirement.key,
    text: requirementText(requirement),
  }));
  const sorted = [...equalities, ...requirements].sort((a, b) => byText(a.key, b.key));
  return orNone(sorted.map(({ text }) => text).join(','));
}

/** For example `a=1,b=2`, for labels and node selectors. */
export function labelsCell(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return orNone(texts.sort(byText).join(','));
}

/** For example `RWO,ROX`, in a fixed order. */
export function accessModesCell(modes: readonly string[] | undefined): string {
  return shortAccessModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

export function orNone(text: string): string {
  return text === '' ? noneCell : text;
}

const shortAccessModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

const daysPerYear = 365;

function longDuration(hours: number, minutes: number): string {
  const days = Math.trunc(hours / 24);
  if (hours < 8) return twoUnits(hours, 'h', minutes, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 2 * daysPerYear) return `${days}d`;
  const years = Math.trunc(days / daysPerYear);
  return years < 8 ? twoUnits(years, 'y', days % daysPerYear, 'd') : `${years}y`;
}

function twoUnits(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;
}

function requirementText({ key, operator, values }: LabelSelectorRequirement): string {
  const listed = [...(values ?? [])].sort(byText).join(',');
  switch (operator) {
    case 'In':
      return `${key} in (${listed})`;
    case 'NotIn':
      return `${key} notin (${listed})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
