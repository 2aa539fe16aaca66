import type { Timestamp } from './api/meta.ts';

/** Kubernetes' MicroTime, as leases and events carry it: `2025-01-01T00:00:00.123000Z`. */
export function microTime(nowMs: number): Timestamp {
  return new Date(nowMs).toISOString().replace('Z', '000Z');
}
