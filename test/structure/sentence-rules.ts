import type { TextFile } from './source-facts.ts';
import type { Violation } from './violation.ts';

/**
 * Patterns of sentences that a reader has to read twice: they name no subject, or a common verb stands for one of the field. Each is right
 * somewhere, so none is forbidden. Their number in a folder must not rise.
 */
const riddles: readonly RegExp[] = [
  /\b(?:is|are|was|were|be|been) looked at\b/gi,
  /\b(?:taken|takes|take|took) back\b/gi,
  /\b(?:given|gives|give|gave) up\b/gi,
  /(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b)/gi,
  /\bwhat (?:[a-z']+ ){1,3}(?:has|have|lacks|lack)\b/gi,
  /\bcomes? to rest\b/gi,
  /^\s*(?:\/\/|\/\*\*) (?:Of|By|In|With) .*$/gm,
];

/** How many uses of these patterns a folder may have. */
export type RiddleCounts = Readonly<Record<string, number>>;

/** Folders of `src/` count on their own. */
export function countRiddles(files: readonly TextFile[]): RiddleCounts {
  const counts = new Map<string, number>();
  for (const { path, text } of files) {
    const uses = riddles.reduce((sum, pattern) => sum + [...text.matchAll(pattern)].length, 0);
    if (uses > 0) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + uses);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A count that has fallen is recorded too, so that it can't rise again unnoticed. */
export function checkRiddles(files: readonly TextFile[], recorded: RiddleCounts): Violation[] {
  const counts = countRiddles(files);
  const folders = [...new Set([...Object.keys(counts), ...Object.keys(recorded)])];
  return folders.flatMap((folder) => {
    const [now, before] = [counts[folder] ?? 0, recorded[folder] ?? 0];
    if (now === before) return [];
    const wrong = `${now} sentences match the patterns in test/structure/sentence-rules.ts, and ${before} are recorded`;
    const remedy =
      now > before
        ? 'rewrite the new one: who does what to which object, with a verb of the field'
        : `record ${now} in test/structure/sentence-counts.ts`;
    return [{ file: folder, line: 1, wrong, remedy }];
  });
}

function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  if (!path.includes('/')) return '.';
  return first === 'src' ? `${first}/${second}` : first;
}
