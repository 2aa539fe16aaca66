import { readFileSync } from 'node:fs';

/** What Linux counts in, on every machine that Node runs on. */
const ticksPerSecond = 100;

/** Seconds of all its threads since it started, in the program and in the kernel for it. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name comes second, in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The most memory that it ever had. */
export function peakMiBOf(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib ?? 0) / 1024);
}
