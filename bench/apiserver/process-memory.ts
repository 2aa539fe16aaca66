import { readFileSync } from 'node:fs';

/** Resident memory as the kernel counts it, of several processes together. */
export function residentMiB(pids: readonly number[]): number {
  let kib = 0;
  for (const pid of pids) {
    const [, found] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    kib += Number(found ?? 0);
  }
  return Math.round(kib / 1024);
}
