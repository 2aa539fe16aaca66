import { mkdir, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 2_000;
/** A holder without a heartbeat for this long is considered dead: it was killed, or its machine was suspended. */
const silenceMaxMs = 60_000;
const pollMs = 500;

/**
 * Runs `work` while no other process on this machine does. The lock is a file that its holder touches regularly, so that a lock left by a
 * killed process expires. In the worst case (a suspended holder that resumes) two processes work at the same time: then they must only
 * waste time, not damage each other's result.
 */
export async function withBuildLock<T>(path: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let isFirst = true; !(await isTaken(path)); isFirst = false) {
    if (isFirst) onWait();
    await sleep(pollMs);
    await breakIfAbandoned(path);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function isTaken(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** If several processes see the same abandoned lock, the rename decides which of them removes it. */
async function breakIfAbandoned(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs < silenceMaxMs) return;
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
