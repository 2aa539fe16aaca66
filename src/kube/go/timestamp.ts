import type { Timestamp } from '../api/meta.ts';

/**
 * Parses RFC 3339 text, as Kubernetes writes it, to milliseconds since 1970; undefined for other texts. JavaScript's own
 * parser accepts "5" and "Nov 15 2026", and reads a time without a zone in the machine's zone.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string' || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** Kubernetes' Time: whole seconds, `2026-01-31T12:00:00Z`. */
export function formatTimestamp(ms: number): Timestamp {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Kubernetes' MicroTime, which leases and events have: `2025-01-01T00:00:00.123000Z`. */
export function formatMicroTime(ms: number): Timestamp {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
