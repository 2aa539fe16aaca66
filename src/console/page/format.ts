import { parseQuantity, quantityToNano } from '../../kube/quantities/quantity.ts';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** Three significant digits, rounded down: `79.9 GiB`. */
export function shownBytes(bytes: number | null): string {
  if (bytes === null) return 'unknown';
  const sign = bytes < 0 ? '−' : '';
  let amount = Math.abs(bytes);
  let unit = 0;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const digits = Math.max(0, 3 - String(Math.trunc(amount)).length);
  const scale = 10 ** digits;
  return `${sign}${Math.trunc(amount * scale) / scale} ${units[unit]}`;
}

/** An amount that is a Kubernetes quantity, such as `40Gi`, in the form of the other amounts; as it is if it cannot be read. */
export function shownQuantity(text: string): string {
  const parsed = parseQuantity(text);
  return parsed.ok ? shownBytes(Number(quantityToNano(parsed.quantity)) / 1e9) : text;
}

export function countText(count: number | null): string {
  if (count === null) return 'unknown';
  return count.toLocaleString('en-US');
}

export function pluralText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `350 ms`, `2.5 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 0) return '0 s';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}

export function percentText(part: number | null, whole: number): string {
  return part === null || whole <= 0 ? '' : `${Math.round((100 * part) / whole)} %`;
}

export function shownTime(ms: number): string {
  return new Date(ms).toLocaleString('sv-SE');
}

/** `4 of 8` cores from thousandths. */
export function shownCores(milli: number | null): string {
  if (milli === null) return 'unknown';
  return `${Math.round(milli / 100) / 10}`;
}
