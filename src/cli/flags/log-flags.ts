import { realClock } from '../../runtime/clock.ts';
import {
  type Log,
  type LogFormat,
  type LogLevel,
  lineLog,
  logFormats,
  logLevels,
} from '../../runtime/log.ts';
import { usage } from '../errors/cli-error.ts';

/** The flags as given; the defaults are in `shared-options.ts`. */
export interface LogFlags {
  readonly logFormat?: string;
  readonly logLevel?: string;
  /** The same as `--log-level debug`. */
  readonly verbose?: boolean | undefined;
}

/** A log on standard error: standard output is reserved for what programs read. */
export function logOf({ logFormat = 'text', logLevel = 'info', verbose = false }: LogFlags): Log {
  return lineLog({
    format: oneOf<LogFormat>('--log-format', logFormat, logFormats),
    level: verbose ? 'debug' : oneOf<LogLevel>('--log-level', logLevel, logLevels),
    clock: realClock,
    write: (line) => process.stderr.write(line),
  });
}

/** For commands that answer and end: only warnings, unless `--verbose` is given. */
export function logForReading({ verbose = false }: Pick<LogFlags, 'verbose'>): Log {
  return logOf({ logLevel: 'warn', verbose });
}

function oneOf<T extends string>(flag: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given);
  if (found === undefined) throw usage(`${flag}: "${given}" must be one of ${known.join(', ')}`);
  return found;
}
