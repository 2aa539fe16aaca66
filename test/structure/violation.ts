import { lineAt, type Mention, type TextFile } from './source-facts.ts';

/** A broken rule. It names the place and the remedy, so that the author can fix it without asking. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly wrong: string;
  readonly remedy: string;
}

/** What is wrong with one mention in a file. */
export interface Complaint {
  readonly wrong: string;
  readonly remedy: string;
}

export function describeViolation({ file, line, wrong, remedy }: Violation): string {
  return `${file}:${line}: ${wrong}; ${remedy}`;
}

export function violationAt({ path, text }: TextFile, { offset }: Mention, complaint: Complaint): Violation {
  return { file: path, line: lineAt(text, offset), ...complaint };
}

/** Code that is not part of the package. */
export function isTestCode(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/testing/');
}

/** A generated file says so in its first line, or is in a folder of that name. */
export function isGenerated({ path, text }: TextFile): boolean {
  return path.includes('/generated/') || text.startsWith('// Generated ');
}
