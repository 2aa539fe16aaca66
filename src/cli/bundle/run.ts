import { writeFile } from 'node:fs/promises';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { tarGz } from '../../io/files/tar-archive.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { serverError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { type ConnectFlags, connect } from '../source/connect.ts';
import { type CollectedBundle, collectBundle } from './collect-bundle.ts';

export interface BundleFlags extends ConnectFlags, Pick<LogFlags, 'verbose'> {
  readonly outputFile?: string;
  /** Another name of `outputFile`. */
  readonly output?: string;
}

const requestTimeoutMs = 60_000;

/** `stowage bundle`: collects what is known about a cluster, without secrets, into one file. */
export async function bundle(flags: BundleFlags): Promise<void> {
  const path = flags.outputFile ?? flags.output;
  if (path === undefined) throw usage('--output-file: say which file to write, such as bundle.tar.gz');
  const log = logForReading(flags);
  const progress = progressOf(log);
  await using cluster = await connect(flags, { rateLimit: false, requestTimeoutMs, log });
  const onProgress = (text: string) => progress.tell(text);
  try {
    const collected = await collectBundle(cluster, { clock: realClock, onProgress });
    progress.end();
    await write(path, collected);
  } catch (error) {
    progress.end();
    throw serverError(error, cluster);
  }
}

/** The file is new and only for its owner: there are no secrets in it, but names of everything. */
async function write(path: string, { files, notReadCount }: CollectedBundle): Promise<void> {
  const archive = tarGz(files, { modifiedMs: realClock.nowMs() });
  if (path === '-') {
    process.stdout.write(archive);
    return;
  }
  try {
    await writeFile(path, archive, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CliError(`${path} exists; delete it, or choose another file with --output-file`, 1, {
        cause: error,
      });
    const reason = fileSystemReason(error);
    throw new CliError(`cannot write ${path}: ${reason}; choose another file with --output-file`, 1, {
      cause: error,
    });
  }
  const missed =
    notReadCount === 0 ? '' : `; ${notReadCount} things could not be read, manifest.json says which`;
  process.stdout.write(`${path}: ${files.length} files, ${Math.ceil(archive.length / 1024)} KiB${missed}\n`);
}
