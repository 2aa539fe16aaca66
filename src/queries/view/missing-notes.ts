import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterView } from './cluster-view.ts';
import type { Note } from './note.ts';

/** A kind that an answer needs, and the consequence if it is missing. */
export interface Need {
  readonly kind: IndexedKind;
  /** Its name for `kubectl get`. */
  readonly resource: string;
  readonly without: string;
}

/** Notes about kinds that the files do not contain. A live cluster without objects of a kind needs no note. */
export function missingNotes({ snapshot, unseen }: ClusterView, needs: readonly Need[]): readonly Note[] {
  if (unseen !== undefined) return [];
  return needs
    .filter(({ kind }) => snapshot.count(kind) === 0)
    .map(({ kind, resource, without }) => ({
      about: 'missing',
      text: `there is no ${kind} in the files: ${without}; add the output of kubectl get ${resource} -o yaml`,
    }));
}

/** True if none of the needed kinds could be read, so that there is no answer. */
export function cannotRead({ unseen }: ClusterView, kinds: readonly IndexedKind[]): boolean {
  return kinds.every((wanted) =>
    unseen?.some(({ kind, onlyNamespace }) => kind === wanted && onlyNamespace === undefined),
  );
}
