import { useState } from 'preact/hooks';
import type { CauseLine } from '../../../queries/explain/pending/pending-explanation.ts';
import type { QueueAnswer } from '../../wire/answers.ts';
import type { ConsolePod } from '../../wire/rows.ts';
import { useAnswer, useNowMs, useRows, useVersion } from '../context.ts';
import { countText, durationText, pluralText } from '../format.ts';
import { AnswerState, Notes } from '../parts/answer-state.tsx';
import { VirtualGrid } from '../parts/virtual-grid.tsx';
import { goTo, linkTo } from '../routes.ts';

const waitingStates: ReadonlySet<ConsolePod['state']> = new Set(['pending', 'gated', 'binding', 'starting']);

/** Pods that wait, folded by cause, in the words of `stowage explain`. */
export function QueueView() {
  const [asksRemedies, setAsks] = useState(false);
  const version = useVersion(['pod', 'claim', 'node', 'pool', 'volume', 'disk'], 1_000);
  const answer = useAnswer<QueueAnswer>(asksRemedies ? 'queue?remedies' : 'queue', version);
  const pods = useRows('pod');
  const waiting = pods.filter(({ state }) => waitingStates.has(state));
  return (
    <section aria-labelledby="queue-title">
      <h1 id="queue-title">Queue</h1>
      <AnswerState answer={answer}>
        {(queue) => (
          <>
            <p class="lead" role="status">
              {queue.summary}
            </p>
            <ol class="causes" aria-label="Causes">
              {queue.causes.map((cause) => (
                <Cause cause={cause} key={`${cause.verdict} ${cause.text}`} />
              ))}
            </ol>
            {queue.remedies.length > 0 && queue.causes.length > 1 && (
              <>
                <h2>What would help most</h2>
                <Remedies remedies={queue.remedies} />
              </>
            )}
            {!queue.hasRemedies && queue.causes.length > 0 && (
              <button type="button" onClick={() => setAsks(true)}>
                Try what would help
              </button>
            )}
            <Notes notes={[...queue.omissions.map((text) => ({ text })), ...queue.notes]} />
          </>
        )}
      </AnswerState>
      <h2>Waiting pods</h2>
      <WaitingPods pods={waiting} />
    </section>
  );
}

function Cause({ cause }: { readonly cause: CauseLine }) {
  const shownMax = 8;
  const shown = cause.pods.slice(0, shownMax);
  return (
    <li class={`cause ${cause.verdict}`}>
      <div class="cause-count">
        <strong>{countText(cause.count)}</strong> {cause.count === 1 ? 'pod' : 'pods'}
      </div>
      <div>
        <p class="cause-text">{cause.text}</p>
        <Remedies remedies={cause.remedies} />
        <p class="pod-links">
          {shown.map((pod) => (
            <a href={linkTo('pod', pod)} key={pod}>
              {pod}
            </a>
          ))}
          {cause.pods.length > shownMax && <PodsRest pods={cause.pods.slice(shownMax)} />}
        </p>
      </div>
    </li>
  );
}

function PodsRest({ pods }: { readonly pods: readonly string[] }) {
  const shownMax = 500;
  return (
    <details>
      <summary>{countText(pods.length)} more</summary>
      {pods.slice(0, shownMax).map((pod) => (
        <a href={linkTo('pod', pod)} key={pod}>
          {pod}
        </a>
      ))}
      {pods.length > shownMax && <span class="dim">and {countText(pods.length - shownMax)} more</span>}
    </details>
  );
}

function Remedies({ remedies }: { readonly remedies: CauseLine['remedies'] }) {
  if (remedies.length === 0) return null;
  return (
    <ul class="remedies">
      {remedies.map(({ text, helped, tried }) => (
        <li key={text}>
          {text}{' '}
          <span class="dim">
            (helps {countText(helped)} of {pluralText(tried, 'pod')})
          </span>
        </li>
      ))}
    </ul>
  );
}

function WaitingPods({ pods }: { readonly pods: readonly ConsolePod[] }) {
  const nowMs = useNowMs();
  return (
    <VirtualGrid
      label="Waiting pods"
      rows={[...pods].sort((a, b) => b.priority - a.priority || a.createdMs - b.createdMs)}
      columns={[
        { title: 'Pod', render: ({ id }) => id, width: 'minmax(8rem, 2fr)' },
        {
          title: 'State',
          render: ({ state }) => <span class={`state ${state}`}>{state}</span>,
          width: '6rem',
        },
        { title: 'Node', render: ({ node }) => node, isMinor: true },
        { title: 'Claims', render: ({ claims }) => claims, isNumber: true, width: '5rem', isMinor: true },
        {
          title: 'Priority',
          render: ({ priority }) => priority,
          isNumber: true,
          width: '6rem',
          isMinor: true,
        },
        {
          title: 'Waiting',
          render: ({ createdMs }) => (createdMs === 0 ? 'unknown' : durationText(nowMs - createdMs)),
          isNumber: true,
          width: '7rem',
        },
      ]}
      keyOf={({ id }) => id}
      onOpen={({ id }) => goTo('pod', id)}
      emptyText="No pod waits."
      heightRows={12}
    />
  );
}
