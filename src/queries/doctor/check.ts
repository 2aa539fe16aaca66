import type { ClusterFacts, Fact, FactLists } from './facts.ts';
import { type FindingCode, findingTexts, type Severity } from './findings.ts';
import type { DoctorFinding, ExaminedObject } from './report.ts';

/** A check is a pure function from facts to findings. It is skipped, and that is reported, if a fact that it needs was not read. */
export interface Check {
  /** The subject of the check, for messages: `the state of drives`. */
  readonly subject: string;
  readonly needs: readonly FactName[];
  readonly find: (facts: ClusterFacts) => readonly Found[];
}

export type FactName = keyof FactLists | 'clock' | 'gates' | 'missingCallerRights' | 'accountRights';

export interface Found {
  readonly code: FindingCode;
  readonly object: ExaminedObject;
  readonly detail: string;
  /** Replaces that of the catalogue. */
  readonly severity?: Severity;
  /** Replaces that of the catalogue. */
  readonly remedy?: string;
}

/** The fact of a name. */
export function factOf(facts: ClusterFacts, name: FactName): Fact<unknown> {
  switch (name) {
    case 'clock':
    case 'gates':
    case 'missingCallerRights':
      return facts[name];
    case 'accountRights':
      return facts.accounts;
    default:
      return facts.lists[name];
  }
}

export function findingOf({ code, object, detail, severity, remedy }: Found): DoctorFinding {
  const text = findingTexts[code];
  return {
    code,
    severity: severity ?? text.severity,
    object,
    detail,
    meaning: text.meaning,
    remedy: remedy ?? text.remedy,
  };
}

/** The object of a finding. */
export function objectOf(
  kind: string,
  { metadata }: { readonly metadata?: { readonly name?: string; readonly namespace?: string } | undefined },
): ExaminedObject {
  const { name = '', namespace } = metadata ?? {};
  return { kind, ...(namespace && { namespace }), name };
}
