import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('counters, gauges and histograms are rendered in the text format, sorted', () => {
  const metrics = new Metrics();
  const waited = metrics.histogram('waited_seconds', 'How long.', [0.1, 1], ['result']);
  waited.observe(0.1, { result: 'bound' });
  waited.observe(0.5, { result: 'bound' });
  waited.observe(7, { result: 'bound' });
  const rescued = metrics.counter('rescued_total', 'How often.', ['controller', 'kind']);
  rescued.add({ controller: 'b', kind: 'x' });
  rescued.add({ controller: 'a', kind: 'x' }, 2);
  metrics.gauge('depth', 'How many wait.').set(3);
  metrics.counter('untouched_total', 'Nothing yet.');

  expect(metrics.render()).toBe(
    [
      '# HELP depth How many wait.',
      '# TYPE depth gauge',
      'depth 3',
      '# HELP rescued_total How often.',
      '# TYPE rescued_total counter',
      'rescued_total{controller="a",kind="x"} 2',
      'rescued_total{controller="b",kind="x"} 1',
      '# HELP untouched_total Nothing yet.',
      '# TYPE untouched_total counter',
      'untouched_total 0',
      '# HELP waited_seconds How long.',
      '# TYPE waited_seconds histogram',
      'waited_seconds_bucket{result="bound",le="0.1"} 1',
      'waited_seconds_bucket{result="bound",le="1"} 2',
      'waited_seconds_bucket{result="bound",le="+Inf"} 3',
      'waited_seconds_sum{result="bound"} 7.6',
      'waited_seconds_count{result="bound"} 3',
      '',
    ].join('\n'),
  );
  expect([waited.count({ result: 'bound' }), waited.sum({ result: 'bound' })]).toEqual([3, 7.6]);
});

test('a metric that is requested twice is one metric', () => {
  const metrics = new Metrics();
  metrics.counter('a_total', 'A.', ['x']).add({ x: '1' });
  const again = metrics.counter('a_total', 'A.', ['x']);
  again.add({ x: '1' });
  expect(again.value({ x: '1' })).toBe(2);
  expect(() => metrics.gauge('a_total', 'A.', ['x'])).toThrow('a_total is already another metric');
  expect(() => metrics.counter('a_total', 'A.')).toThrow('a_total is already another metric');
});

test('labels are those that the metric was created with', () => {
  const counter = new Metrics().counter('a_total', 'A.', ['x']);
  expect(() => counter.add()).toThrow('a_total has the labels [x], not []');
  expect(() => counter.add({ x: '1', y: '2' })).toThrow('a_total has the labels [x], not [x, y]');
});

test('special characters are escaped', () => {
  const metrics = new Metrics();
  metrics.gauge('a', 'one\ntwo', ['x']).set(1, { x: 'a "b"\\\n' });
  expect(metrics.render()).toBe('# HELP a one\\ntwo\n# TYPE a gauge\na{x="a \\"b\\"\\\\\\n"} 1\n');
});

test.each([
  ['a counter that falls', () => new Metrics().counter('a_total', 'A.').add({}, -1)],
  ['buckets that do not rise', () => new Metrics().histogram('a', 'A.', [1, 1])],
  ['a name with a blank', () => new Metrics().gauge('a b', 'A.')],
])('%s is refused', (_, act) => {
  expect(act).toThrow();
});

test('a gauge can be updated when the page is requested', () => {
  const metrics = new Metrics();
  const gauge = metrics.gauge('waiting', 'Who waits.');
  let waiting = 3;
  const stop = metrics.beforeRender(() => gauge.set(waiting));
  waiting = 5;
  expect(metrics.render()).toContain('\nwaiting 5\n');
  stop();
  waiting = 6;
  expect(metrics.render()).toContain('\nwaiting 5\n');
});

test('metrics can be described without their values', () => {
  const metrics = new Metrics();
  metrics.histogram('seconds', 'How long.', [1], ['verb']);
  metrics.counter('calls_total', 'How often.').add();
  expect(metrics.describe()).toEqual([
    { name: 'calls_total', help: 'How often.', type: 'counter', labelNames: [] },
    { name: 'seconds', help: 'How long.', type: 'histogram', labelNames: ['verb'] },
  ]);
});

test('a gauge that is replaced reports nothing of objects that are gone', () => {
  const metrics = new Metrics();
  const gauge = metrics.gauge('bytes', 'Bytes.', ['disk']);
  gauge.replace([
    [{ disk: 'a' }, 1],
    [{ disk: 'b' }, 2],
  ]);
  gauge.replace([[{ disk: 'b' }, 3]]);
  expect(metrics.render()).toContain('bytes{disk="b"} 3');
  expect(metrics.render()).not.toContain('disk="a"');
});
