import type { TextFile } from './source-facts.ts';
import { type Violation, violationAt } from './violation.ts';

/**
 * Words that keep coming back and that a reader has to translate, each with what to write instead. The list is short on purpose: it holds
 * the worst ones. In a name they count too (`FooWorld`). Quotations of Kubernetes' own texts are listed in `allowed`.
 */
const ruledOut: ReadonlyMap<string, string> = new Map([
  ['told', '"is reported", "is notified", "is logged"'],
  ['teller', 'the name of the events: SchedulerEvents, BinderEvents'],
  ['telling', '"reports", "events"'],
  ['happening', '"event", "change"'],
  ['happenings', '"events", "changes"'],
  ['whoever', '"any caller", "the caller that"'],
  ['nobody', '"no caller", "no client", "nothing"'],
  ['somebody', '"another client", "a user"'],
  ['everybody', '"every client", "all users"'],
  ['anew', '"again"'],
  ['world', '"fixture", "cluster", "snapshot"'],
  ['worlds', '"fixtures", "clusters", "snapshots"'],
  ['furniture', '"fixtures"'],
  ['furnish', '"seed"'],
  ['census', '"cache"'],
  ['inhabitant', '"cached object"'],
  ['desk', '"session"'],
  ['hiccup', '"transient error"'],
  ['mend', '"fix"'],
  ['mended', '"fixed"'],
  ['taken for', '"treated as"'],
  ['takes for', '"treats as"'],
  ['stands written', '"is persisted", "is recorded"'],
  ['for ever', '"forever", "without end"'],
  ['what holds here', '"Invariants"'],
]);

/** A use that is right, and why. */
export interface AllowedUse {
  readonly file: string;
  readonly word: string;
  readonly reason: string;
}

const anyWord = new RegExp(
  `\\b(?:${[...ruledOut.keys()].join('|')})\\b|(?<=[a-z])(?:Teller|Telling|Happening|World|Furniture|Census|Inhabitant|Desk)(?![a-z])`,
  'gi',
);

export function checkVocabulary(files: readonly TextFile[], allowed: readonly AllowedUse[]): Violation[] {
  const isAllowed = (path: string, word: string): boolean =>
    allowed.some((use) => use.file === path && use.word === word);
  return files.flatMap((file) =>
    [...file.text.matchAll(anyWord)].flatMap((match) => {
      const word = match[0].toLowerCase();
      if (isAllowed(file.path, word)) return [];
      const remedy = `write ${ruledOut.get(word)}, or allow it in test/structure/vocabulary.ts with the reason`;
      return [violationAt(file, { name: word, offset: match.index }, { wrong: `"${match[0]}"`, remedy })];
    }),
  );
}
