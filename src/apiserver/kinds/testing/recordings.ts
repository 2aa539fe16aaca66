import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const kindsFolder = new URL('../', import.meta.url);

/** The recordings of one folder of kinds, such as `core/pods`. */
export interface Recording<Line> {
  readonly folder: string;
  readonly lines: readonly Line[];
}

/** Reads all recordings with a file name, such as `writes.ndjson`, below the folder of kinds. */
export function readRecordings<Line>(fileName: string): readonly Recording<Line>[] {
  const files = readdirSync(kindsFolder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith(`/testing/${fileName}`))
    .sort()
    .map((file) => ({ folder: dirname(dirname(file)), lines: readLines<Line>(file) }));
}

function readLines<Line>(file: string): readonly Line[] {
  const lines = readFileSync(new URL(file, kindsFolder), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
