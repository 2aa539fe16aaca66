import { readSource, type SourceFacts, type TextFile } from '../source-facts.ts';
import type { Violation } from '../violation.ts';

/** Small made-up sources, by path: each rule must find the violation in one and nothing in the other. */
export type Sources = Readonly<Record<string, string>>;

export function filesOf(sources: Sources): TextFile[] {
  return Object.entries(sources).map(([path, text]) => ({ path, text }));
}

export function readSources(sources: Sources): SourceFacts[] {
  return filesOf(sources).map(readSource);
}

export function places(violations: readonly Violation[]): string[] {
  return violations.map(({ file, line }) => `${file}:${line}`);
}
