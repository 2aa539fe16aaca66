import type { Clock } from './clock.ts';
import { escapedJson, printableText, withoutPasswords } from './printable-text.ts';

/** From details for debugging to conditions that require action. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

/** Additional data of a line. Undefined fields are left out; an `Error` is written as its message. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Logs what the program does, a line at a time. The message says in a few words what happened; values to search or count
 * by are in the fields. Never throws, never waits.
 */
export interface Log {
  /** Whether lines of this level are written: for callers that would have to compute the line first. */
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
  /** Receives a whole line with its line end. */
  readonly write: (line: string) => void;
}

export function lineLog({ level, format, clock, write }: LineLogOptions): Log {
  const least = logLevels.indexOf(level);
  const writes = (wanted: LogLevel) => logLevels.indexOf(wanted) >= least;
  const at =
    (wanted: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!writes(wanted)) return;
      const line =
        format === 'json'
          ? escapedJson(jsonLine(wanted, message, fields, clock))
          : printableText(textLine(wanted, message, fields));
      write(`${withoutPasswords(line)}\n`);
    };
  return { writes, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Writes nothing. */
export const silentLog: Log = {
  writes: () => false,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** Time, level and message come first, and win over fields of the same name. */
function jsonLine(level: LogLevel, message: string, fields: LogFields, clock: Pick<Clock, 'nowMs'>): string {
  const own = { time: new Date(clock.nowMs()).toISOString(), level, message };
  const plainFields = Object.entries(fields).map(([name, value]) => [name, plain(value)]);
  return `${JSON.stringify({ ...own, ...Object.fromEntries(plainFields), ...own })}`;
}

/** `stowage: message: error name=value`, with the level unless it is `info`. */
function textLine(level: LogLevel, message: string, { error, ...fields }: LogFields): string {
  const parts = [
    ...(level === 'info' ? [] : [level]),
    message,
    ...(error === undefined ? [] : [oneLine(error)]),
  ];
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quoted(plain(value))}`);
  return `stowage: ${parts.join(': ')}${pairs.join('')}`;
}

/** Formatted for the middle of a line. */
function oneLine(error: unknown): string {
  return String(plain(error)).replace(/\s*\n\s*/g, ' ');
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? String(value) : value;
}

/** Quotes a value whose end would not be visible otherwise. */
function quoted(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value) ?? String(value);
}
