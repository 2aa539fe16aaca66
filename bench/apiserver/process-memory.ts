import { readFileSync } from 'node:fs';

export interface Memory {
  /** As the kernel counts it, pages of mapped files included. */
  readonly residentMiB: number;
  /** Without pages of files, which the kernel takes back when it needs them. */
  readonly ownMiB: number;
}

/** Of several processes together. */
export function memoryOf(pids: readonly number[]): Memory {
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
