import { expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core-v1.ts';
import type { Kind } from '../kind.ts';
import { podKind } from './pod.ts';
import { kindOf, read, recordedRows } from './testing/recorded.ts';

test.each(recordedRows())(
  'the row of $name is that of a real server',
  ({ object, nowMs, columns, cells }) => {
    const kind = kindOf(object);
    expect(kind.columns).toEqual(columns);
    expect(kind.row(read(kind, object), { nowMs })).toEqual(cells);
  },
);

test.each([
  ['Pending', undefined],
  ['Running', undefined],
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
])('the row of a pod that is %s tells programs whether it is done', (phase, message) => {
  const pod = read(podKind as unknown as Kind, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {},
    status: { phase },
  });
  const conditions = podKind.rowConditions?.(pod as unknown as Pod);
  expect(conditions).toEqual(
    message === undefined ? undefined : [{ type: 'Completed', status: 'True', reason: phase, message }],
  );
});
