import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { costProblem } from '../../io/yaml/yaml-limits.ts';
import { isRecord } from '../../kube/wire.ts';
import { CliError } from '../cli-error.ts';
import type { ChangeFlags } from './change-flags.ts';

/** The changes of one entry of the file: what the flags of the same names would ask for. */
export interface FileChange extends ChangeFlags {
  readonly apply?: readonly string[];
}

const keys = ['drain', 'addNodes', 'like', 'addDrive', 'replicas', 'apply'] as const;

/** Reads `--changes`: a list whose entries have the names of the flags, in camel case. The values are those of the flags. */
export function readChangesFile(path: string): readonly FileChange[] {
  const value = parsed(path);
  if (!Array.isArray(value)) throw new CliError(`${path}: must be a list, for example "- drain: node/n1"`);
  return value.map((entry: unknown, at) => fileChange(entry, `${path}: entry ${at + 1}`));
}

function parsed(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new CliError(`${path}: cannot be read; --changes takes a file or -`, 1, { cause: error });
  }
  const problem = costProblem(text, Number.POSITIVE_INFINITY);
  if (problem !== undefined) throw new CliError(`${path}: is not valid YAML: ${problem}`);
  try {
    return parse(text);
  } catch (error) {
    throw new CliError(`${path}: is not valid YAML: ${(error as Error).message}`, 1, { cause: error });
  }
}

function fileChange(entry: unknown, where: string): FileChange {
  if (!isRecord(entry)) throw new CliError(`${where}: must be an object with one of ${keys.join(', ')}`);
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
  };
}
