import { readFileSync } from 'node:fs';

/** The unit of Linux on every machine that Node runs on. */
const ticksPerSecond = 100;

/** CPU seconds of all its threads since the start, in user and kernel mode. */
export function cpuSecondsOf(pid: number): number {
  return secondsIn(pid, 11);
}

/** CPU seconds of the child processes of this process that have ended. */
export function cpuSecondsOfChildren(): number {
  return secondsIn(process.pid, 13);
}

/** The sum of two fields of the process's statistics: user and kernel mode. */
function secondsIn(pid: number, field: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name, in parentheses, and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[field]) + Number(fields[field + 1])) / ticksPerSecond;
}

/** The peak memory of the process. */
export function peakMiBOf(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib ?? 0) / 1024);
}
