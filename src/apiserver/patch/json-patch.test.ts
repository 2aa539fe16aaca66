import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../kube/go/json-value.ts';
import { applyJsonPatch, unknownJsonPatchFields } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import {
  frozen,
  type PatchVector,
  patchErrorMessage,
  type RecordedAnswer,
  readLines,
} from './testing/vectors.ts';
import { shapeOfType } from './type-shapes.ts';

describe('JSON and merge patches', () => {
  test('match the library of Kubernetes', () => {
    for (const { type, original, patch, result, error } of readLines<PatchVector>('json-and-merge.ndjson')) {
      const apply = type === 'json' ? applyJsonPatch : applyMergePatch;
      const run = (): JsonObject => apply(frozen(original), frozen(patch));
      expect(patchErrorMessage(run) === undefined, JSON.stringify({ original, patch })).toBe(
        error === undefined,
      );
      if (error === undefined) expect(entriesOf(run())).toEqual(entriesOf(result!));
    }
  });

  test('copy a container once, however many operations change it', () => {
    const document = frozen({ list: Array.from({ length: 1000 }, (_, i) => i), other: { a: 1 } });
    const patch = Array.from({ length: 10_000 }, () => ({ op: 'replace', path: '/list/0', value: 7 }));
    const result = applyJsonPatch(document, patch);
    expect(result.list).toHaveLength(1000);
    expect(result.other).toBe(document.other);
    expect(document.list[0]).toBe(0);
  });

  test('make a copy that is independent of its source', () => {
    const patch = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/x', value: 2 },
      { op: 'add', path: '/a/y', value: 3 },
    ];
    expect(applyJsonPatch({ a: { x: 1 } }, patch)).toEqual({ a: { x: 1, y: 3 }, b: { x: 2 } });
  });

  test('refuse copies whose total size exceeds the limit', () => {
    const patch = Array.from({ length: 4 }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` }));
    expect(patchErrorMessage(() => applyJsonPatch({ a: 'x'.repeat(1024 * 1024) }, patch))).toBe(
      'the server rejected our request due to an error in our request',
    );
  });

  test('refuse more than ten thousand operations', () => {
    const patch = new Array(10_001).fill({ op: 'remove', path: '/a' });
    expect(() => applyJsonPatch({}, patch)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });

  test('report unknown fields of operations', () => {
    const patch = [
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/a', foo: 1 },
    ];
    expect(unknownJsonPatchFields(patch)).toEqual(['json patch unknown field "[1].foo"']);
  });
});

describe('wrong patches', () => {
  const pod: JsonObject = frozen({
    metadata: { name: 'p' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      securityContext: {},
    },
  });

  test.each(
    readLines<RecordedAnswer>('answers.ndjson').map((line) => [line.type, line.patch, line.answer] as const),
  )('are answered as by a real server: %s %j', (type, patch, answer) => {
    expect(statusOf(type, pod, patch)).toEqual(answer);
  });
});

function statusOf(type: RecordedAnswer['type'], pod: JsonObject, patch: Json): unknown {
  try {
    if (type === 'json') applyJsonPatch(pod, patch);
    else if (type === 'merge') applyMergePatch(pod, patch);
    else applyStrategicMergePatch(pod, patch, shapeOfType('core/v1.Pod'));
    return undefined;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const { code, reason, message, details } = error;
    return { code, message, ...(reason && { reason }), ...(details && { details }) };
  }
}

/** Objects as lists of their entries, because `toEqual` does not compare an own `__proto__` key. */
function entriesOf(value: Json): unknown {
  if (Array.isArray(value)) return value.map(entriesOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([name, inner]) => [name, entriesOf(inner)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
