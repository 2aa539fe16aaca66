import { isRecord } from '../../kube/wire.ts';
import type { ChangeWords } from '../../queries/plan/change-words.ts';
import { CliError } from '../errors/cli-error.ts';
import { loadValue } from '../source/load-files.ts';

/** The changes of one entry of the file: what the flags of the same names would ask for. */
export interface FileChange extends ChangeWords {
  readonly apply?: readonly string[];
  /** Names the entry in errors. */
  readonly where: string;
}

const keys = ['drain', 'addNodes', 'like', 'addDrive', 'replicas', 'apply'] as const;

/** Reads `--changes`: a list whose entries have the names of the flags, in camel case. The values are those of the flags. */
export function readChangesFile(path: string): readonly FileChange[] {
  const value = loadValue(path);
  if (!Array.isArray(value)) throw new CliError(`${path}: must be a list, for example "- drain: node/n1"`);
  return value.map((entry: unknown, at) => fileChange(entry, `${path}: entry ${at + 1}`));
}

function fileChange(entry: unknown, where: string): FileChange {
  if (!isRecord(entry) || Object.keys(entry).length === 0)
    throw new CliError(`${where}: must be an object with one of ${keys.join(', ')}`);
  const unknown = Object.keys(entry).find((key) => !keys.some((known) => known === key));
  if (unknown !== undefined)
    throw new CliError(`${where}: ${unknown} is unknown; it must be one of ${keys.join(', ')}`);
  const text = (key: (typeof keys)[number]) => {
    const value = entry[key];
    if (value === undefined) return undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw new CliError(`${where}: ${key}: must be a text or a number`);
  };
  const list = (key: (typeof keys)[number]) => {
    const value = text(key);
    return value === undefined ? {} : { [key]: [value] };
  };
  const [addNodes, like] = [text('addNodes'), text('like')];
  return {
    ...list('drain'),
    ...list('addDrive'),
    ...list('replicas'),
    ...list('apply'),
    ...(addNodes !== undefined && { addNodes }),
    ...(like !== undefined && { like }),
    where,
  };
}

/** An error about the value of a flag, for an entry of the file, where the flags have other names. */
export function entryError(error: unknown, where: string | undefined): unknown {
  if (where === undefined || !(error instanceof CliError)) return error;
  const message = error.message.replaceAll(/--([a-z]+(?:-[a-z]+)*)/g, (_, flag: string) => camelCase(flag));
  return new CliError(`${where}: ${message}`, 1, { cause: error });
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
