import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { HistoryAnswer, HistorySeries } from '../../wire/answers.ts';
import { useAnswer } from '../context.ts';
import { countText, pluralText, shownBytes, shownTime } from '../format.ts';
import { useThemeVersion } from '../map/map-canvas.tsx';
import { AnswerState } from '../parts/answer-state.tsx';
import { textScale, themeColours } from '../theme-colours.ts';

const refreshMs = 10_000;
const chartHeight = 180;

/** Capacity over time, as this process has sampled it. */
export function CapacityView() {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setVersion((before) => before + 1), refreshMs);
    return () => clearInterval(timer);
  }, []);
  const answer = useAnswer<HistoryAnswer>('history', version);
  return (
    <section aria-labelledby="capacity-title">
      <h1 id="capacity-title">Capacity over time</h1>
      <AnswerState answer={answer}>{(history) => <Charts history={history} />}</AnswerState>
    </section>
  );
}

function Charts({ history }: { readonly history: HistoryAnswer }) {
  const groups = useMemo(() => {
    const found = new Map<string, HistorySeries[]>();
    for (const series of history.series)
      found.set(series.group, [...(found.get(series.group) ?? []), series]);
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  }, [history]);
  const [first, last] = [history.timesMs[0], history.timesMs.at(-1)];
  if (first === undefined || last === undefined) return <p>Nothing has been sampled yet.</p>;
  return (
    <>
      <p class="dim">
        {first === last
          ? `1 sample, at ${shownTime(first)}.`
          : `${pluralText(history.timesMs.length, 'sample')} from ${shownTime(first)} to ${shownTime(last)}, since the console started.`}
      </p>
      {history.note !== undefined && <p class="hidden-note">{history.note}</p>}
      <div class="charts">
        {groups.map(([group, series]) => (
          <Chart group={group} series={series} timesMs={history.timesMs} key={group} />
        ))}
      </div>
    </>
  );
}

function Chart({
  group,
  series,
  timesMs,
}: {
  readonly group: string;
  readonly series: readonly HistorySeries[];
  readonly timesMs: readonly number[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const theme = useThemeVersion();
  const isBytes = group !== 'pods';
  const names = series.map(({ name }) => name).join();
  const text = (value: number) => (isBytes ? shownBytes(value) : countText(value));
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const colours = themeColours(chartColours);
    // The text of the page is larger on large screens.
    const scale = textScale();
    const height = chartHeight * scale;
    const axis = {
      stroke: colours.dim,
      font: `${12 * scale}px system-ui, sans-serif`,
      grid: { stroke: colours.line, width: 1 },
      ticks: { stroke: colours.line, width: 1 },
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false },
        scales: {
          // A single sample has no range of its own.
          x: { range: ({ data }, min, max) => (data[0].length > 1 ? [min, max] : [min - 30, min + 30]) },
          y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
        },
        axes: [
          { ...axis, size: 30 * scale, space: 80 * scale, values: (_, splits) => timeTexts(splits) },
          {
            ...axis,
            size: 76 * scale,
            space: 30 * scale,
            values: (_, values) => values.map(text),
            ...(isBytes && { incrs: binarySteps }),
          },
        ],
        series: [
          {},
          ...series.map(({ name }) => ({
            label: name,
            stroke: colours[colourOf[name] ?? 'accent'],
            width: 2 * scale,
            points: { show: timesMs.length < 3 },
          })),
        ],
      },
      dataOf(series, timesMs),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, theme]);
  useEffect(() => plot.current?.setData(dataOf(series, timesMs)), [series, timesMs]);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{group}</strong>
        <ul class="legend">
          {series.map(({ name, values }) => (
            <li class={`legend-${colourOf[name] ?? 'accent'}`} key={name}>
              {name} {text(values.at(-1) ?? 0)}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

/** Distances of the lines of a chart of bytes: 1, 2, 4 … so that their labels are round, such as 256 GiB. */
const binarySteps = Array.from({ length: 62 }, (_, power) => 2 ** power);

/** With the day if the samples are of several; it is in the line above the charts otherwise. */
function timeTexts(splits: readonly number[]): string[] {
  const times = splits.map((seconds) => new Date(seconds * 1_000));
  const isOneDay = new Set(times.map((time) => time.toDateString())).size <= 1;
  return times.map((time) =>
    isOneDay
      ? time.toLocaleTimeString('sv-SE')
      : time.toLocaleString('sv-SE').slice('2026-'.length, -':00'.length),
  );
}

const chartColours = ['dim', 'line', 'used', 'promised', 'free-line', 'bad', 'accent'] as const;

const colourOf: Readonly<Record<string, (typeof chartColours)[number]>> = {
  used: 'used',
  promised: 'promised',
  free: 'free-line',
  running: 'used',
  waiting: 'bad',
};

function dataOf(series: readonly HistorySeries[], timesMs: readonly number[]): uPlot.AlignedData {
  return [timesMs.map((time) => time / 1_000), ...series.map(({ values }) => [...values])];
}
