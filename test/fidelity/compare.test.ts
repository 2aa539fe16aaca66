import { describe, expect, test } from 'vitest';
import { differencesBetween, unexpectedDifferences } from './compare.ts';
import { isKnown } from './differences.ts';
import { fill, mergePatch } from './placeholders.ts';
import { get, scenario } from './scenario.ts';

describe('comparing two answers', () => {
  test('reports each path whose values differ', () => {
    const real = { status: 200, body: { a: [1, { b: 2 }], 'x.y': 1 } };
    const ours = { status: 200, body: { a: [1, { b: 3 }, 4] } };
    expect(differencesBetween(real, ours)).toEqual([
      { path: 'body.a[1].b', real: 2, ours: 3 },
      { path: 'body.a[2]', real: undefined, ours: 4 },
      { path: 'body["x.y"]', real: 1, ours: undefined },
    ]);
  });

  test('reports only the status if the statuses differ', () => {
    const real = { status: 404, body: { message: 'not found', code: 404 } };
    const ours = { status: 200, body: { kind: 'Pod' } };
    expect(differencesBetween(real, ours)).toEqual([
      { path: 'status', real: '404 not found', ours: '200 Pod' },
    ]);
  });

  test('returns readable text for unexpected differences only', () => {
    const asked = scenario('s', get('/x'));
    const played = { real: [{ status: 200, body: { a: 1 } }], ours: [{ status: 200, body: { a: 2 } }] };
    expect(unexpectedDifferences(asked, played)).toBe('\nstep 0: GET /x\n  body.a\n    real: 1\n    ours: 2');
    expect(
      unexpectedDifferences(
        asked,
        played,
        (_, request, { path }) => request === 'GET /x' && path === 'body.a',
      ),
    ).toBe('');
    expect(unexpectedDifferences(asked, { ...played, ours: [] })).toContain('was not played');
  });
});

test.each([
  [{ scenario: 'pods *', path: 'body.*' }, true],
  [{ scenario: 'pods', path: 'body.*' }, false],
  [{ scenario: '*', request: 'PUT *', path: '*' }, false],
  [{ scenario: '*', path: 'body.items[*].x' }, true],
  [{ scenario: '*', path: 'body', accepts: () => true }, false],
  [{ scenario: '*', path: '*', accepts: () => false }, false],
])('%j matches the difference: %j', (known, expected) => {
  const difference = { path: 'body.items[3].x', real: 1, ours: 2 };
  expect(isKnown({ ...known, reason: '' }, 'pods that wait', 'GET /x', difference)).toBe(expected);
});

test('placeholders are replaced by values of earlier answers, also inside strings', () => {
  const known = new Map<string, unknown>([
    ['ns', 'n1'],
    ['pod', { metadata: { uid: 'u', generation: 3 } }],
  ]);
  expect(
    fill({ path: '/n/{{ns}}/{{pod.metadata.uid}}', number: '{{pod.metadata.generation}}' }, known),
  ).toEqual({
    path: '/n/n1/u',
    number: 3,
  });
  expect(() => fill('{{pod.metadata.name}}', known)).toThrow('is not in an earlier answer');
});

test('a body with `from` is a merge patch of an earlier answer', () => {
  expect(mergePatch({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: null, e: 3 }, d: [] })).toEqual({
    a: { c: 2, e: 3 },
    d: [],
  });
});
