import { useId, useMemo, useState } from 'preact/hooks';
import type { PlanReport } from '../../../queries/plan/plan-report.ts';
import { useAnswer, useStore } from '../context.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { type PlanChange, suggestionsFor } from './plan-changes.ts';
import { PlanResult } from './plan-result.tsx';

const kinds: readonly { readonly flag: PlanChange['flag']; readonly title: string; readonly hint: string }[] =
  [
    { flag: 'drain', title: 'Drain', hint: 'node/NAME or drive/NAME' },
    { flag: 'replicas', title: 'Replicas', hint: 'sts/NAMESPACE/NAME=9' },
    { flag: 'add-drive', title: 'Add a drive', hint: 'NODE=2Ti or NODE=2Ti:Hot' },
    { flag: 'add-nodes', title: 'Add nodes', hint: 'how many' },
  ];

interface Asked {
  readonly changes: readonly PlanChange[];
  readonly number: number;
}

/** Changes are collected, and their plan is shown; nothing is done unless the viewer says so afterwards. */
export function WhatIfView() {
  const [changes, setChanges] = useState<readonly PlanChange[]>([]);
  const [draft, setDraft] = useState<PlanChange>({ flag: 'drain', value: '', like: '' });
  const [asked, setAsked] = useState<Asked>({ changes: [], number: 0 });
  const isAsked = asked.changes.length > 0;
  const answer = useAnswer<PlanReport>(isAsked ? `plan?${queryOf(asked.changes)}` : undefined, asked.number);
  const update = (next: readonly PlanChange[]) => {
    setChanges(next);
    setAsked((before) => ({ ...before, changes: [] }));
  };
  /** What was typed counts too, so that one change needs no separate step. */
  const all = draft.value.trim() === '' ? changes : withChange(changes, trimmed(draft));
  const add = () => {
    update(all);
    setDraft({ ...draft, value: '' });
  };
  return (
    <section aria-labelledby="what-if-title">
      <h1 id="what-if-title">What if</h1>
      <p>
        Collect changes, and see their plan: what would move, and what would find no place. Asking changes
        nothing.
      </p>
      <ChangeForm draft={draft} onDraft={setDraft} onAdd={add} />
      {changes.length > 0 && (
        <ul class="changes" aria-label="Changes">
          {changes.map((change, at) => (
            <li key={`${change.flag} ${change.value}`}>
              <code>{textOf(change)}</code>{' '}
              <button type="button" onClick={() => update(changes.filter((_, index) => index !== at))}>
                Remove<span class="visually-hidden"> {textOf(change)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <button
        type="button"
        class="primary"
        disabled={all.length === 0}
        onClick={() => {
          add();
          setAsked({ changes: all, number: asked.number + 1 });
        }}
      >
        Show the plan
      </button>
      {isAsked && (
        <AnswerState answer={answer}>
          {(plan) => <PlanResult plan={plan} changes={asked.changes} key={asked.number} />}
        </AnswerState>
      )}
    </section>
  );
}

function ChangeForm(props: {
  readonly draft: PlanChange;
  readonly onDraft: (draft: PlanChange) => void;
  readonly onAdd: () => void;
}) {
  const { draft, onDraft, onAdd } = props;
  const { flag, value, like } = draft;
  const hint = kinds.find((kind) => kind.flag === flag)?.hint ?? '';
  return (
    <form
      class="change-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim() !== '') onAdd();
      }}
    >
      <label>
        Change{' '}
        <select
          value={flag}
          onChange={(event) => onDraft({ ...draft, flag: event.currentTarget.value as PlanChange['flag'] })}
        >
          {kinds.map((kind) => (
            <option value={kind.flag} key={kind.flag}>
              {kind.title}
            </option>
          ))}
        </select>
      </label>
      <Field
        title="Value"
        flag={flag}
        value={value}
        hint={hint}
        onValue={(next) => onDraft({ ...draft, value: next })}
      />
      {flag === 'add-nodes' && (
        <Field
          title="Like node"
          flag="like"
          value={like}
          hint="NODE"
          onValue={(next) => onDraft({ ...draft, like: next })}
        />
      )}
      <button type="submit">Add</button>
    </form>
  );
}

/** A text with suggestions from the cluster. */
function Field(props: {
  readonly title: string;
  readonly flag: PlanChange['flag'] | 'like';
  readonly value: string;
  readonly hint: string;
  readonly onValue: (value: string) => void;
}) {
  const store = useStore();
  const id = useId();
  const { title, flag, value, hint, onValue } = props;
  const suggestions = useMemo(() => suggestionsFor(store, flag, value), [store, flag, value]);
  return (
    <label>
      {title}{' '}
      <input
        value={value}
        placeholder={hint}
        list={id}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={id}>
        {suggestions.map((text) => (
          <option value={text} key={text} />
        ))}
      </datalist>
    </label>
  );
}

/** Twice the same change is one. */
function withChange(changes: readonly PlanChange[], added: PlanChange): readonly PlanChange[] {
  return changes.some((change) => textOf(change) === textOf(added)) ? changes : [...changes, added];
}

function trimmed({ flag, value, like }: PlanChange): PlanChange {
  return { flag, value: value.trim(), like: like.trim() };
}

function textOf({ flag, value, like }: PlanChange): string {
  return flag === 'add-nodes' ? `--add-nodes ${value} --like ${like}` : `--${flag} ${value}`;
}

function queryOf(changes: readonly PlanChange[]): string {
  const query = new URLSearchParams();
  for (const { flag, value, like } of changes) {
    query.append(flag, value);
    if (flag === 'add-nodes') query.append('like', like);
  }
  return query.toString();
}
