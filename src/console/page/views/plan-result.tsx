import type { PlanAnswer, PlanProblem } from '../../wire/plan.ts';
import { countText, pluralText, shownBytes } from '../format.ts';
import { Notes } from '../parts/answer-state.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { PlanActions } from './plan-actions.tsx';
import type { PlanChange } from './plan-changes.ts';
import { PodLink } from './pod-view.tsx';

export function PlanResult({
  plan,
  changes,
}: {
  readonly plan: PlanAnswer;
  readonly changes: readonly PlanChange[];
}) {
  return (
    <div role="region" aria-label="Plan">
      <h2>Plan</h2>
      <p class="lead" role="status">
        {plan.summary}
      </p>
      {plan.changes.length > 1 && (
        <ul>
          {plan.changes.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <Moves plan={plan} />
      <Problems
        title="Pods that lose their node, and find no other"
        rows={plan.stranded.filter(({ from }) => from !== undefined)}
      />
      <Problems title="Pods whose volume cannot leave" rows={plan.stuck} />
      {plan.lost.length > 0 && (
        <p>Nothing creates these pods again: {plan.lost.map(({ pod }) => pod).join(', ')}</p>
      )}
      {plan.removed.length > 0 && <p>{pluralText(plan.removed.length, 'pod')} would be removed.</p>}
      <Copies plan={plan} />
      <Problems
        title="Pods that wait, before and after"
        rows={plan.stranded.filter(({ from }) => from === undefined)}
      />
      <PlanActions changes={changes} plan={plan} />
      <Notes notes={plan.notes} />
    </div>
  );
}

function Moves({ plan }: { readonly plan: PlanAnswer }) {
  return (
    <>
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
    </>
  );
}

function Copies({ plan }: { readonly plan: PlanAnswer }) {
  if (plan.copies.length === 0) return null;
  return (
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
  );
}

/** Messages that are shown, and pods of each. */
const messagesShownMax = 50;
const podsShownMax = 30;

/** Reasons are long sentences, so this is a list and no table with one line for each. Pods with the same reason share one. */
function Problems({ title, rows }: { readonly title: string; readonly rows: readonly PlanProblem[] }) {
  if (rows.length === 0) return null;
  const byMessage = [...podsByMessage(rows)].sort(([, a], [, b]) => b.length - a.length);
  return (
    <>
      <h3>{title}</h3>
      <ul class="reasons" aria-label={title}>
        {byMessage.slice(0, messagesShownMax).map(([message, pods]) => (
          <li key={message}>
            {pods.length > 1 && <strong>{pluralText(pods.length, 'pod')}: </strong>}
            {message}
            <div class="pod-links">
              {pods.slice(0, podsShownMax).map(({ pod, from }) => (
                <span key={pod}>
                  <PodLink id={pod} /> {from !== undefined && <span class="dim">on {from} </span>}
                </span>
              ))}
              {pods.length > podsShownMax && (
                <span class="dim">and {countText(pods.length - podsShownMax)} more</span>
              )}
            </div>
          </li>
        ))}
        {byMessage.length > messagesShownMax && (
          <li class="dim">and {countText(byMessage.length - messagesShownMax)} other reasons</li>
        )}
      </ul>
    </>
  );
}

function podsByMessage(rows: readonly PlanProblem[]): ReadonlyMap<string, readonly PlanProblem[]> {
  const found = new Map<string, PlanProblem[]>();
  for (const row of rows) {
    const known = found.get(row.message);
    if (known === undefined) found.set(row.message, [row]);
    else known.push(row);
  }
  return found;
}
