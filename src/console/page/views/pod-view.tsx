import type { PodExplanation } from '../../../queries/explain/explanation.ts';
import type { PathStep, PodAnswer } from '../../wire/answers.ts';
import { useAnswer, useNowMs, useStore, useVersion } from '../context.ts';
import { countText, durationText, shownTime } from '../format.ts';
import { AnswerState, Notes } from '../parts/answer-state.tsx';
import { linkTo } from '../routes.ts';

/** One pod: its path as a timeline, why it is there, and why not elsewhere. */
export function PodView({ id }: { readonly id: string }) {
  const store = useStore();
  const version = useVersion(['pod', 'claim', 'node', 'pool'], 1_500);
  const answer = useAnswer<PodAnswer>(`pod?id=${encodeURIComponent(id)}`, version);
  const pod = store.get('pod', id);
  return (
    <section aria-labelledby="pod-title">
      <div class="title-line">
        <h1 id="pod-title">Pod {id}</h1>
        {pod !== undefined && <span class={`state ${pod.state}`}>{pod.state}</span>}
      </div>
      <AnswerState answer={answer}>
        {({ path, explanation }) => (
          <>
            <p class="lead">{explanation.summary}</p>
            <div class="title-line">
              <h2>Path</h2>
              <TotalTime steps={path.steps} />
            </div>
            <Timeline steps={path.steps} />
            <WhyThere report={explanation} />
            <WhyNot report={explanation} />
            <Remedies report={explanation} />
            <Claims report={explanation} />
            <Events report={explanation} />
            <Notes notes={explanation.notes} />
          </>
        )}
      </AnswerState>
    </section>
  );
}

/** From the first step to the last. */
function TotalTime({ steps }: { readonly steps: readonly PathStep[] }) {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first?.atMs === undefined || last?.atMs === undefined || !last.isDone) return null;
  return (
    <span class="dim">
      running {durationText(Math.max(0, last.atMs - first.atMs))} after it was created, ± 1 s
    </span>
  );
}

/** Each step with the time since the previous one; the bars show where the time went. */
function Timeline({ steps }: { readonly steps: readonly PathStep[] }) {
  const nowMs = useNowMs();
  const current = steps.findIndex(({ isDone }) => !isDone);
  const times = steps.map(({ atMs }) => atMs);
  const known = times.filter((time) => time !== undefined);
  // Objects that a person has written have no times.
  const hasTimes = known.length > 0;
  const startMs = times[0] ?? Math.min(nowMs, ...known);
  const endMs = Math.max(startMs, ...known, ...(current === -1 ? [] : [nowMs]));
  const spanMs = Math.max(1, endMs - startMs);
  // A volume may be reserved before the node is chosen; a step never begins before the previous one.
  const previousOf = (at: number) => {
    const before = times.slice(0, at).filter((time) => time !== undefined);
    return before.length === 0 ? undefined : Math.max(...before);
  };
  return (
    <ol class="timeline" aria-label="Path of the pod">
      {steps.map(({ name, atMs, isDone, isExact, text }, at) => {
        const previous = previousOf(at) ?? startMs;
        const from = Math.max(0, previous - startMs);
        const until = at === current ? nowMs : (atMs ?? previous);
        const lasted = Math.max(0, until - previous);
        const isDrawn = atMs !== undefined || (hasTimes && at === current);
        return (
          <li class={isDone ? 'done' : at === current ? 'current' : 'later'} key={name}>
            <span class="step-name">{name}</span>
            <span class="step-bar" aria-hidden="true">
              <span
                style={{
                  marginLeft: `${(100 * from) / spanMs}%`,
                  width: `${Math.max(isDrawn ? 0.6 : 0, (100 * lasted) / spanMs)}%`,
                }}
              />
            </span>
            <span class="step-time">
              {timeOfStep({ atMs, isDone, isFirst: at === 0, lasted })}
              {at === current && (hasTimes ? `waiting for ${durationText(lasted)}` : 'waiting')}
              {atMs !== undefined && !isExact && at > 0 && <span class="dim"> ± 1 s</span>}
            </span>
            <span class="step-text">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}

function timeOfStep(step: {
  readonly atMs: number | undefined;
  readonly isDone: boolean;
  readonly isFirst: boolean;
  readonly lasted: number;
}): string {
  if (step.atMs === undefined) return step.isDone ? 'time unknown' : '';
  return step.isFirst ? shownTime(step.atMs) : `+ ${durationText(step.lasted)}`;
}

function WhyThere({ report }: { readonly report: PodExplanation }) {
  const { placement } = report;
  if (placement === undefined) return null;
  const rules = [...new Set(placement.scores.flatMap(({ byRule }) => Object.keys(byRule)))];
  const shown = placement.scores.slice(0, 10);
  return (
    <>
      <h2>Why {placement.node}</h2>
      {placement.volumes.length > 0 && (
        <ul class="plain">
          {placement.volumes.map(({ claim, volume, pool, policy }) => (
            <li key={claim}>
              {claim}:{' '}
              {volume !== undefined
                ? `volume ${volume}`
                : pool !== undefined
                  ? `a new volume from ${pool}`
                  : 'a new volume'}
              {policy !== undefined && ` (policy: ${policy})`}
            </li>
          ))}
        </ul>
      )}
      {shown.length > 0 && (
        <div class="table-box">
          <table>
            <caption>Scores of the nodes that fit, the best first</caption>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col" class="number">
                  Total
                </th>
                {rules.map((rule) => (
                  <th scope="col" class="number" key={rule}>
                    {rule}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map(({ node, total, byRule }) => (
                <tr key={node} class={node === placement.node ? 'chosen' : ''}>
                  <th scope="row">{node}</th>
                  <td class="number">{round(total)}</td>
                  {rules.map((rule) => (
                    <td class="number" key={rule}>
                      {round(byRule[rule] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function round(score: number): string {
  return String(Math.round(score * 10) / 10);
}

function WhyNot({ report }: { readonly report: PodExplanation }) {
  const { nodes, podReasons, waitsFor, placement } = report;
  if (nodes.groups.length + podReasons.length + waitsFor.length === 0) return null;
  return (
    <>
      <h2>{placement === undefined ? 'Why nowhere' : 'Why not elsewhere'}</h2>
      <ul class="reasons">
        {waitsFor.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
        {podReasons.map(({ sentence, remedy, claim }) => (
          <li key={sentence + claim}>
            {claim !== undefined && `${claim}: `}
            {sentence} <span class="dim">{remedy}</span>
          </li>
        ))}
        {nodes.groups.map(({ count, nodes: names, reasons }) => (
          <li key={names.join()}>
            <strong>
              {countText(count)} of {countText(nodes.total)} nodes
            </strong>
            : {reasons.map(reasonText).join('; ')}
            <div class="dim">
              {names.slice(0, 12).join(', ')}
              {count > 12 && ' …'}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function reasonText({
  sentence,
  detail,
  claim,
}: PodExplanation['nodes']['groups'][number]['reasons'][number]): string {
  const about = [claim, detail].filter((text) => text !== undefined);
  return about.length === 0 ? sentence : `${sentence} (${about.join(', ')})`;
}

function Remedies({ report: { remedies } }: { readonly report: PodExplanation }) {
  if (remedies.length === 0) return null;
  return (
    <>
      <h2>What would help</h2>
      <ul class="remedies">
        {remedies.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );
}

function Claims({ report: { claims } }: { readonly report: PodExplanation }) {
  if (claims.length === 0) return null;
  return (
    <>
      <h2>Claims</h2>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th scope="col">Claim</th>
              <th scope="col">Class</th>
              <th scope="col" class="number">
                Requested
              </th>
              <th scope="col">State</th>
              <th scope="col">Volume</th>
            </tr>
          </thead>
          <tbody>
            {claims.map(({ claim, storageClass, requested, state, volume }) => (
              <tr key={claim}>
                <th scope="row">{claim}</th>
                <td>{storageClass}</td>
                <td class="number">{requested}</td>
                <td>
                  <span class={`state ${state}`}>{state}</span>
                </td>
                <td>{volume}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Events({ report: { events } }: { readonly report: PodExplanation }) {
  if (events.length === 0) return null;
  return (
    <>
      <h2>Events</h2>
      <ul class="events">
        {events.map(({ type, reason, message, count, lastSeen }) => (
          <li key={reason + message} class={type === 'Warning' ? 'warning' : ''}>
            <strong>{reason}</strong> {message} {count > 1 && <span class="dim">{count} times</span>}{' '}
            {lastSeen !== undefined && <span class="dim">{shownTime(Date.parse(lastSeen))}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** For lists that link to pods. */
export function PodLink({ id }: { readonly id: string }) {
  return <a href={linkTo('pod', id)}>{id}</a>;
}
