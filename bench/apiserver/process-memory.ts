import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  /** Resident memory, including pages of mapped files. */
  readonly residentMiB: number;
  /** Without pages of files, which the kernel can reclaim. */
  readonly ownMiB: number;
}

/** The sum of several processes. */
export function memoryOf(pids: readonly number[]): ProcessMemory {
  const sum = (field: string) => {
    const kib = pids.map((pid) => fieldOf(readFileSync(`/proc/${pid}/status`, 'utf8'), field));
    return Math.round(kib.reduce((total, each) => total + each, 0) / 1024);
  };
  return { residentMiB: sum('VmRSS'), ownMiB: sum('RssAnon') };
}

function fieldOf(status: string, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
  return Number(kib ?? 0);
}
