import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterView } from './cluster-view.ts';
import type { Note } from './note.ts';

/** A kind that an answer is made from, and what the answer is without it. */
export interface Need {
  readonly kind: IndexedKind;
  /** For kubectl get. */
  readonly resource: string;
  readonly without: string;
}

/** What files don't have. A cluster that has none of a kind lacks nothing; that only files can't tell. */
export function missingNotes({ snapshot, unseen }: ClusterView, needs: readonly Need[]): readonly Note[] {
  if (unseen !== undefined) return [];
  return needs
    .filter(({ kind }) => snapshot.count(kind) === 0)
    .map(({ kind, resource, without }) => ({
      about: 'missing',
      text: `there is no ${kind} in the files: ${without}; add the output of kubectl get ${resource} -o yaml`,
    }));
}

/** Nothing of what was asked for may be seen: there is no answer. */
export function isBlind({ unseen }: ClusterView, kinds: readonly IndexedKind[]): boolean {
  return kinds.every((wanted) =>
    unseen?.some(({ kind, onlyNamespace }) => kind === wanted && onlyNamespace === undefined),
  );
}
