import { lstat, stat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/** The path of a server's socket cannot be used; the message says why and what to do. */
export class CsiSocketError extends Error {
  override readonly name = 'CsiSocketError';
}

/**
 * Makes a path free for a new socket. A socket that no process serves, left behind by a killed process, is removed; a served one and
 * any other file are not touched.
 */
export async function releaseStaleSocket(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(undefinedIfMissing);
  if (!folder?.isDirectory()) {
    throw new CsiSocketError(
      `cannot listen at ${path}: its directory does not exist; create ${dirname(path)}`,
    );
  }
  const found = await lstat(path).catch(undefinedIfMissing);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new CsiSocketError(`${path} exists and is not a socket; remove it, or choose another path`);
  }
  const problem = await connectionProblem(path);
  if (problem === undefined) {
    throw new CsiSocketError(`another process serves ${path}; stop it, or choose another path`);
  }
  if (problem === 'ENOENT') return;
  if (problem !== 'ECONNREFUSED') {
    throw new CsiSocketError(
      `cannot tell whether a process serves ${path}: ${problem}; remove it if none does`,
    );
  }
  await unlink(path).catch(undefinedIfMissing);
}

/** The error code of a connection attempt; undefined if a process accepts it. */
function connectionProblem(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
