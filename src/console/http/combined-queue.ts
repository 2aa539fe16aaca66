import type { CauseLine } from '../../queries/explain/pending/pending-explanation.ts';
import type { QueueAnswer } from '../wire/answers.ts';

/** The queues of several namespaces as one: equal causes are folded. */
export function combinedQueue(queues: readonly QueueAnswer[], nowMs: number): QueueAnswer {
  const [only] = queues;
  if (only !== undefined && queues.length === 1) return only;
  const causes = new Map<string, CauseLine>();
  for (const cause of queues.flatMap((queue) => queue.causes)) {
    const key = `${cause.verdict} ${cause.text}`;
    const known = causes.get(key);
    causes.set(
      key,
      known === undefined
        ? cause
        : { ...known, count: known.count + cause.count, pods: [...known.pods, ...cause.pods].sort() },
    );
  }
  return {
    summary: queues.length === 0 ? 'You may not list pods.' : queues.map(({ summary }) => summary).join(' '),
    causes: [...causes.values()].sort((a, b) => b.count - a.count),
    remedies: queues.flatMap(({ remedies }) => remedies),
    omissions: queues.flatMap(({ omissions }) => omissions),
    notes: distinct(queues.flatMap(({ notes }) => notes)),
    takenAtMs: nowMs,
    hasRemedies: queues.every(({ hasRemedies }) => hasRemedies),
  };
}

export function distinct<T extends { readonly text: string }>(notes: readonly T[]): readonly T[] {
  return [...new Map(notes.map((note) => [note.text, note])).values()];
}
