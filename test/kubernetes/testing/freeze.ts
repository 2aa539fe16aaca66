/** Freezes a process, and waits until each of its threads has stopped: on a busy machine one may still answer after the signal. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 5;

export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (!isStopped(pid)) await sleep(pollMs);
}

function isStopped(pid: number): boolean {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.every((task) => {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
    // The state follows the name of the program, which is in parentheses and may contain some itself.
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T');
  });
}
