import {
  copiedText,
  noNodeText,
  noPlaceText,
  planColumns,
  planParts,
  planReasons,
  whereNow,
} from '../../../engine/what-if/plan-words.ts';
import type { DeletedPodLine, PlanReport, StrandedPodLine } from '../../../queries/plan/plan-report.ts';
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
  readonly plan: PlanReport;
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
      <Problems title={planParts.stranded} rows={plan.stranded} />
      <Problems title={planParts.stuck} rows={plan.stuck} />
      <Gone title={planParts.lost} rows={plan.lost} why={planReasons.lost} />
      <Gone title={planParts.removed} rows={plan.removed} why={planReasons.removed} />
      <Gone title={planParts.stays} rows={plan.stays} why={planReasons.stays} />
      <Copies plan={plan} />
      <PlanActions changes={changes} plan={plan} />
      <Notes notes={plan.notes} />
    </div>
  );
}

function Moves({ plan }: { readonly plan: PlanReport }) {
  return (
    <>
      <h3>{planParts.moves}</h3>
      <VirtualGrid
        label={planParts.moves}
        rows={plan.moves}
        columns={[
          { title: planColumns.pod, render: ({ pod }) => <PodLink id={pod} />, width: 'minmax(9rem, 2fr)' },
          { title: planColumns.from, render: ({ from }) => from ?? noNodeText },
          { title: planColumns.to, render: ({ to }) => to },
          { title: planColumns.cause, render: ({ cause }) => cause, isMinor: true },
        ]}
        keyOf={({ pod }) => pod}
        emptyText="No pod moves."
        heightRows={10}
      />
    </>
  );
}

function Copies({ plan }: { readonly plan: PlanReport }) {
  if (plan.copies.length === 0) return null;
  return (
    <>
      <h3>{planParts.copies}</h3>
      <VirtualGrid
        label={planParts.copies}
        rows={plan.copies}
        columns={[
          { title: planColumns.volume, render: ({ volume }) => volume, width: 'minmax(9rem, 2fr)' },
          { title: planColumns.claim, render: ({ claim }) => claim, isMinor: true },
          {
            title: planColumns.size,
            render: ({ bytes }) => shownBytes(bytes),
            isNumber: true,
            width: '6rem',
          },
          { title: planColumns.from, render: ({ from }) => from },
          { title: planColumns.to, render: ({ to }) => to ?? noPlaceText },
        ]}
        keyOf={({ volume }) => volume}
        emptyText="None."
        heightRows={8}
      />
      <p class="dim">{copiedText(shownBytes(plan.copiedBytes))}</p>
    </>
  );
}

function Gone({
  title,
  rows,
  why,
}: {
  readonly title: string;
  readonly rows: readonly DeletedPodLine[];
  readonly why: string;
}) {
  if (rows.length === 0) return null;
  const names = rows
    .slice(0, podsShownMax)
    .map(({ pod, node }) => (node === undefined ? pod : `${pod} on ${node}`));
  const more = rows.length > podsShownMax ? ` and ${countText(rows.length - podsShownMax)} more` : '';
  return (
    <>
      <h3>{title}</h3>
      <p>
        {names.join(', ')}
        {more}: {why}
      </p>
    </>
  );
}

/** Messages that are shown, and pods of each. */
const messagesShownMax = 50;
const podsShownMax = 30;

/** Reasons are long sentences, so this is a list and no table with one line for each. Pods with the same reason share one. */
function Problems({ title, rows }: { readonly title: string; readonly rows: readonly StrandedPodLine[] }) {
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
              {pods.slice(0, podsShownMax).map(({ pod, from, cause }) => (
                <span key={pod}>
                  <PodLink id={pod} /> <span class="dim">({whereNow(from, cause)}) </span>
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

function podsByMessage(rows: readonly StrandedPodLine[]): ReadonlyMap<string, readonly StrandedPodLine[]> {
  const found = new Map<string, StrandedPodLine[]>();
  for (const row of rows) {
    const known = found.get(row.message);
    if (known === undefined) found.set(row.message, [row]);
    else known.push(row);
  }
  return found;
}
