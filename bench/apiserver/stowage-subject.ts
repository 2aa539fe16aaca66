import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectionOf } from './kubeconfig-connection.ts';
import { memoryOf } from './process-memory.ts';
import type { MeasuredServer } from './subject.ts';

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** `stowage up` as users start it, with its own directory. */
export async function startStowage(): Promise<MeasuredServer> {
  const data = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  const begun = performance.now();
  const flags = ['up', '--data', data, '--port', '0', '--controllers', 'none'];
  const child = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`stowage up ended with status ${code}`)));
  });
  const startMs = performance.now() - begun;
  const { host, port, authority, token } = connectionOf(join(data, 'kubeconfig'));
  return {
    name: 'stowage',
    host,
    port,
    authority,
    token,
    startMs,
    memory: () => memoryOf([child.pid ?? 0]),
    async close() {
      child.kill('SIGTERM');
      await exited;
      rmSync(data, { recursive: true, force: true });
    },
  };
}
