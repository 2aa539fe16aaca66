import type { Clock } from './clock.ts';

/** From what only matters to whoever looks for a fault, to what somebody should do something about. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

/** What a line says beside its message. Left out where undefined; an `Error` is told by its message. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Tells whoever runs the program what it does, a line at a time. A message says in a few words what happened; what somebody may want to
 * search or count by is in the fields. Never throws, never waits.
 */
export interface Log {
  /** Whether lines of this level are written: for whoever would have to work to say something. */
  writes(level: LogLevel): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LineLogOptions {
  /** Lines of this level and above are written. */
  readonly level: LogLevel;
  /** `text` is for people on a terminal, `json` for programs: one object a line. */
  readonly format: LogFormat;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Given a whole line with its end. */
  readonly write: (line: string) => void;
}

export function lineLog({ level, format, clock, write }: LineLogOptions): Log {
  const least = logLevels.indexOf(level);
  const writes = (wanted: LogLevel) => logLevels.indexOf(wanted) >= least;
  const at =
    (wanted: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!writes(wanted)) return;
      write(format === 'json' ? jsonLine(wanted, message, fields, clock) : textLine(wanted, message, fields));
    };
  return { writes, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Says nothing. */
export const silentLog: Log = {
  writes: () => false,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** What is ours comes first, and wins over fields of the same name. */
function jsonLine(level: LogLevel, message: string, fields: LogFields, clock: Pick<Clock, 'nowMs'>): string {
  const own = { time: new Date(clock.nowMs()).toISOString(), level, message };
  const told = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
  return `${JSON.stringify({ ...own, ...Object.fromEntries(told), ...own })}\n`;
}

/** `stowage: message: error name=value`; the level where it is none that everybody sees. */
function textLine(level: LogLevel, message: string, { error, ...fields }: LogFields): string {
  const said = [
    ...(level === 'info' ? [] : [level]),
    message,
    ...(error === undefined ? [] : [sentence(error)]),
  ];
  const told = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${worded(plain(value))}`);
  return `stowage: ${said.join(': ')}${told.join('')}\n`;
}

/** In the middle of a line. */
function sentence(error: unknown): string {
  return String(plain(error)).replace(/\s*\n\s*/g, ' ');
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? String(value) : value;
}

/** In quotes where it would not be seen where it ends. */
function worded(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value) ?? String(value);
}
