import { statfsSync } from 'node:fs';
import { StoreError } from '../../apiserver/store/store-error.ts';
import { CliError } from '../errors/cli-error.ts';

/** A disk with less free space than this counts as full: the next write may need as much. */
const fullBytes = 2 ** 20;

export interface UpPlace {
  readonly host: string;
  readonly port: string;
  readonly dataDirectory: string;
}

/** Turns errors of the machine into messages with a remedy; returns other errors unchanged. */
export function explained(error: unknown, { host, port, dataDirectory }: UpPlace): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof StoreError) {
    if (error.code === 'DiskFull') return full(dataDirectory);
    if (error.code === 'WriteFailed' && isFull(dataDirectory)) return full(dataDirectory);
    return new CliError(`${error.message}${remedyOf(error)}`, 1, { cause: error });
  }
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new CliError(
        `port ${port} of ${host} is in use; stop what listens there, or choose another with --port (0 picks a free one)`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`this machine has no address ${host}; choose another with --host`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CliError(
        `not allowed: ${message}; choose a port above 1023 with --port, or a directory that you may write with --data (now ${dataDirectory})`,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return full(dataDirectory);
    default:
      return error;
  }
}

function full(dataDirectory: string): CliError {
  return new CliError(`the disk of ${dataDirectory} is full; free some space, or choose another with --data`);
}

/** A database does not always report why a write failed. */
function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < fullBytes;
  } catch {
    // Then the original error is the best information.
    return false;
  }
}

/** Most messages of the store contain the remedy already. */
function remedyOf({ code }: StoreError): string {
  switch (code) {
    case 'WriteFailed':
      return '; free some space or repair the disk, or choose another with --data';
    case 'NewerFormat':
    case 'Damaged':
      return ', or start over with --fresh, which deletes all data';
    default:
      return '';
  }
}
