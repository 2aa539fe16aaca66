import type { AllowedUse } from './vocabulary-rules.ts';

/** The name of a scenario decides its namespace, and some values are part of requests: both are in the recorded answers. */
const recorded = 'a name or value that the recorded answers of kube-apiserver contain';

/** Uses of ruled-out words that are right. */
export const allowedUses: readonly AllowedUse[] = [
  ...usesIn('src/csi/generated/csi.ts', ['happening'], 'a comment of csi.proto'),
  ...usesIn('test/fidelity/corpus/access-requests.ts', ['somebody', 'everybody', 'nobody'], recorded),
  ...usesIn('test/fidelity/corpus/access-users.ts', ['nobody', 'somebody'], recorded),
  ...usesIn('test/fidelity/corpus/access.ts', ['nobody'], recorded),
  ...usesIn('test/fidelity/corpus/apply-parts.ts', ['told'], recorded),
  ...usesIn('test/fidelity/corpus/definitions-lifecycle.ts', ['nobody'], recorded),
  ...usesIn('test/fidelity/corpus/documents.ts', ['somebody'], recorded),
  ...usesIn('test/fidelity/corpus/lifecycle.ts', ['nobody'], recorded),
  ...usesIn('test/fidelity/differences.ts', ['somebody', 'everybody'], recorded),
];

function usesIn(file: string, words: readonly string[], reason: string): AllowedUse[] {
  return words.map((word) => ({ file, word, reason }));
}
