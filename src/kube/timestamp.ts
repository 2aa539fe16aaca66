import type { Timestamp } from './api/meta.ts';

/**
 * Reads RFC 3339 text as Kubernetes writes it, in milliseconds since 1970; undefined where it isn't that. JavaScript's own parser
 * takes "5" and "Nov 15 2026" for times, and reads one without a zone by the machine's.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string' || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** The time in whole seconds, as objects carry it: `2026-01-31T12:00:00Z`. */
export function formatTimestamp(ms: number): Timestamp {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
