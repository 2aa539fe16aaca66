import type { ComponentChildren } from 'preact';
import type { Fetched } from '../context.ts';

/** Shows an answer, or that it is on its way, or why there is none. */
export function AnswerState<T>({
  answer,
  children,
}: {
  readonly answer: Fetched<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (answer.value !== undefined) return <>{children(answer.value)}</>;
  if (answer.problem !== undefined)
    return (
      <p class="problem" role="alert">
        {answer.problem}
      </p>
    );
  return <p class="dim">Loading…</p>;
}

export function Notes({ notes }: { readonly notes: readonly { readonly text: string }[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes" aria-label="Notes">
      {notes.map(({ text }) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
