import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import {
  type CustomKindHistory,
  type CustomStepResult,
  replayHistory,
} from './testing/custom-kind-history.ts';

/** `error: null` if the message depends on the iteration order of Go's maps. */
interface RecordedHistory extends CustomKindHistory {
  readonly expected: readonly (Omit<CustomStepResult, 'error'> & { readonly error?: string | null })[];
}

const text = readFileSync(new URL('testing/custom-kind-histories.ndjson', import.meta.url), 'utf8');
const histories = text
  .trimEnd()
  .split('\n')
  .map((line): RecordedHistory => JSON.parse(line));

describe('objects of custom kinds', () => {
  test.each(histories.map((history, i) => ({ i, history })))(
    'match Kubernetes in history $i',
    ({ history }) => {
      const results = replayHistory(history);
      for (const [i, { error, object, owners }] of history.expected.entries()) {
        const result = results[i]!;
        expect(result.object).toEqual(object);
        expect(withoutTimes(result.owners)).toEqual(withoutTimes(owners));
        expect(result.error !== undefined).toBe(error !== undefined);
        if (typeof error === 'string') expect(error.endsWith(result.error!)).toBe(true);
      }
    },
  );
});

/** Sorted, because the recorded order depends on the clock of the recording machine. */
function withoutTimes(owners: CustomStepResult['owners'] = []): readonly ManagedFieldsEntry[] {
  const timeless = owners.map(({ time: _, ...entry }) => entry);
  const identity = ({ operation, manager, apiVersion, subresource }: ManagedFieldsEntry): string =>
    [operation, manager, apiVersion, subresource].join(' ');
  return timeless.sort((a, b) => (identity(a) < identity(b) ? -1 : 1));
}
