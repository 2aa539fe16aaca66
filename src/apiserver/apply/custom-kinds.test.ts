import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../managed-fields/managers.ts';
import { type CustomAnswer, type CustomLife, liveThrough } from './testing/custom-kind-history.ts';

/** `error: null` where the words depend on the order of Go's maps. */
interface RecordedLife extends CustomLife {
  readonly expected: readonly (Omit<CustomAnswer, 'error'> & { readonly error?: string | null })[];
}

const text = readFileSync(new URL('testing/custom-lives.ndjson', import.meta.url), 'utf8');
const lives = text
  .trimEnd()
  .split('\n')
  .map((line): RecordedLife => JSON.parse(line));

describe('objects of custom kinds', () => {
  test.each(lives.map((life, i) => ({ i, life })))('are those of Kubernetes in life $i', ({ life }) => {
    const answers = liveThrough(life);
    for (const [i, { error, object, owners }] of life.expected.entries()) {
      const answer = answers[i]!;
      expect(answer.object).toEqual(object);
      expect(withoutTimes(answer.owners)).toEqual(withoutTimes(owners));
      expect(answer.error !== undefined).toBe(error !== undefined);
      if (typeof error === 'string') expect(error.endsWith(answer.error!)).toBe(true);
    }
  });
});

/** In the order of the clock of whoever recorded them. */
function withoutTimes(owners: CustomAnswer['owners'] = []): readonly ManagedFieldsEntry[] {
  const timeless = owners.map(({ time: _, ...entry }) => entry);
  const identity = ({ operation, manager, apiVersion, subresource }: ManagedFieldsEntry): string =>
    [operation, manager, apiVersion, subresource].join(' ');
  return timeless.sort((a, b) => (identity(a) < identity(b) ? -1 : 1));
}
