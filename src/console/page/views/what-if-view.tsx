import { useState } from 'preact/hooks';
import type { ConsoleAction, PlanAnswer, PlanProblem } from '../../wire/plan.ts';
import { useAnswer, useStore } from '../context.ts';
import { pluralText, shownBytes } from '../format.ts';
import { AnswerState, Notes } from '../parts/answer-state.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { PodLink } from './pod-view.tsx';

interface Change {
  readonly flag: 'drain' | 'replicas' | 'add-drive' | 'add-nodes';
  readonly value: string;
  /** Only for `add-nodes`. */
  readonly like: string;
}

const kinds: readonly { readonly flag: Change['flag']; readonly title: string; readonly hint: string }[] = [
  { flag: 'drain', title: 'Drain', hint: 'node/NAME or drive/NAME' },
  { flag: 'replicas', title: 'Replicas', hint: 'sts/NAMESPACE/NAME=9' },
  { flag: 'add-drive', title: 'Add a drive', hint: 'NODE=2Ti or NODE=2Ti:Hot' },
  { flag: 'add-nodes', title: 'Add nodes', hint: 'how many' },
];

/** Changes are collected, and their plan is shown; nothing is done unless the viewer says so afterwards. */
export function WhatIfView() {
  const [changes, setChanges] = useState<readonly Change[]>([]);
  const [asked, setAsked] = useState<string | undefined>();
  const [version, setVersion] = useState(0);
  const answer = useAnswer<PlanAnswer>(asked, version);
  const update = (next: readonly Change[]) => {
    setChanges(next);
    setAsked(undefined);
  };
  return (
    <section aria-labelledby="what-if-title">
      <h1 id="what-if-title">What if</h1>
      <p>The plan says what would happen. Nothing is changed by asking.</p>
      <ChangeForm onAdd={(change) => update([...changes, change])} />
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
        disabled={changes.length === 0}
        onClick={() => {
          setAsked(`plan?${queryOf(changes)}`);
          setVersion(version + 1);
        }}
      >
        Show the plan
      </button>
      {asked !== undefined && (
        <AnswerState answer={answer}>{(plan) => <Plan plan={plan} changes={changes} />}</AnswerState>
      )}
    </section>
  );
}

function ChangeForm({ onAdd }: { readonly onAdd: (change: Change) => void }) {
  const [flag, setFlag] = useState<Change['flag']>('drain');
  const [value, setValue] = useState('');
  const [like, setLike] = useState('');
  const hint = kinds.find((kind) => kind.flag === flag)?.hint ?? '';
  return (
    <form
      class="change-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim() === '') return;
        onAdd({ flag, value: value.trim(), like: like.trim() });
        setValue('');
      }}
    >
      <label>
        Change{' '}
        <select value={flag} onChange={(event) => setFlag(event.currentTarget.value as Change['flag'])}>
          {kinds.map((kind) => (
            <option value={kind.flag} key={kind.flag}>
              {kind.title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Value{' '}
        <input value={value} placeholder={hint} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      {flag === 'add-nodes' && (
        <label>
          Like node <input value={like} onInput={(event) => setLike(event.currentTarget.value)} />
        </label>
      )}
      <button type="submit">Add</button>
    </form>
  );
}

function textOf({ flag, value, like }: Change): string {
  return flag === 'add-nodes' ? `--add-nodes ${value} --like ${like}` : `--${flag} ${value}`;
}

function queryOf(changes: readonly Change[]): string {
  const query = new URLSearchParams();
  for (const { flag, value, like } of changes) {
    query.append(flag, value);
    if (flag === 'add-nodes') query.append('like', like);
  }
  return query.toString();
}

function Plan({ plan, changes }: { readonly plan: PlanAnswer; readonly changes: readonly Change[] }) {
  return (
    <div role="region" aria-label="Plan">
      <h2>Plan</h2>
      <p class="lead" role="status">
        {plan.summary}
      </p>
      <ul class="plain">
        {plan.changes.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <h3>Pods that get another node</h3>
      <VirtualGrid
        label="Moves"
        rows={plan.moves}
        columns={[
          { title: 'Pod', render: ({ pod }) => <PodLink id={pod} />, width: 'minmax(9rem, 2fr)' },
          { title: 'From', render: ({ from }) => from ?? 'nowhere' },
          { title: 'To', render: ({ to }) => to },
          { title: 'Why', render: ({ cause }) => cause, isMinor: true },
        ]}
        keyOf={({ pod }) => pod}
        emptyText="No pod moves."
        heightRows={10}
      />
      <Problems title="Pods without a node in the end" rows={plan.stranded} />
      {plan.stuck.length > 0 && <Problems title="Pods whose volume cannot leave" rows={plan.stuck} />}
      {plan.lost.length > 0 && (
        <p>Nothing creates these pods again: {plan.lost.map(({ pod }) => pod).join(', ')}</p>
      )}
      {plan.removed.length > 0 && <p>{pluralText(plan.removed.length, 'pod')} would be removed.</p>}
      {plan.copies.length > 0 && (
        <>
          <h3>Volumes that have to be copied</h3>
          <VirtualGrid
            label="Copies"
            rows={plan.copies}
            columns={[
              { title: 'Volume', render: ({ volume }) => volume, width: 'minmax(9rem, 2fr)' },
              { title: 'Claim', render: ({ claim }) => claim, isMinor: true },
              { title: 'Size', render: ({ bytes }) => shownBytes(bytes), isNumber: true, width: '6rem' },
              { title: 'From', render: ({ from }) => from },
              { title: 'To', render: ({ to }) => to ?? 'fits nowhere' },
            ]}
            keyOf={({ volume }) => volume}
            emptyText="None."
            heightRows={8}
          />
        </>
      )}
      <Actions changes={changes} />
      <Notes notes={plan.notes} />
    </div>
  );
}

function Problems({ title, rows }: { readonly title: string; readonly rows: readonly PlanProblem[] }) {
  return (
    <>
      <h3>{title}</h3>
      <VirtualGrid
        label={title}
        rows={rows}
        columns={[
          { title: 'Pod', render: ({ pod }) => <PodLink id={pod} />, width: 'minmax(9rem, 1fr)' },
          { title: 'From', render: ({ from }) => from ?? '', width: '8rem', isMinor: true },
          {
            title: 'Why',
            render: ({ message }) => <span title={message}>{message}</span>,
            width: 'minmax(9rem, 3fr)',
          },
        ]}
        keyOf={({ pod }) => pod}
        emptyText="None."
        heightRows={8}
      />
    </>
  );
}

/** Only with `--console-write`, and only after the plan was shown. */
function Actions({ changes }: { readonly changes: readonly Change[] }) {
  const { about } = useStore();
  const [done, setDone] = useState<ReadonlyMap<string, string>>(new Map());
  const actions = changes.flatMap(actionOf);
  if (about?.canWrite !== true || actions.length === 0) return null;
  const carryOut = async (title: string, action: ConsoleAction) => {
    const response = await fetch('/console/data/act', { method: 'POST', body: JSON.stringify(action) });
    const { message } = (await response.json()) as { readonly message?: string };
    setDone((before) => new Map(before).set(title, response.ok ? 'done' : (message ?? 'failed')));
  };
  return (
    <>
      <h3>Carry out</h3>
      <ul class="plain">
        {actions.map(({ title, action }) => (
          <li key={title}>
            <button
              type="button"
              onClick={() => void carryOut(title, action)}
              disabled={done.get(title) === 'done'}
            >
              {title}
            </button>{' '}
            <span role="status">{done.get(title)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function actionOf({
  flag,
  value,
}: Change): readonly { readonly title: string; readonly action: ConsoleAction }[] {
  const [, kind = '', name = ''] = /^(nodes?|no|drives?)\/(.+)$/i.exec(value) ?? [];
  if (flag === 'drain' && name !== '') {
    const what = /^n/i.test(kind) ? 'node' : 'drive';
    return [{ title: `Cordon ${what} ${name}`, action: { kind: 'cordon', what, name, isOn: true } }];
  }
  const scaled = /^(sts|statefulsets?|deploy|deployments?)\/(?:([^/=]+)\/)?([^/=]+)=(\d+)$/i.exec(value);
  if (flag !== 'replicas' || scaled === null) return [];
  const [, workload = '', namespace = 'default', ofName = '', count = ''] = scaled;
  const what = /^s/i.test(workload) ? 'StatefulSet' : 'Deployment';
  const action = { kind: 'scale', what, namespace, name: ofName, replicas: Number(count) } as const;
  return [{ title: `Scale ${what} ${namespace}/${ofName} to ${count}`, action }];
}
