import { expect, test } from 'vitest';
import { realClock } from '../../../runtime/clock.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { EmbeddedRegistry } from '../embedded-registry.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';

test('a token contains the position in a list', () => {
  const continuation = { revision: 7, after: 'default/a' };
  expect(decodeContinue(encodeContinue(continuation))).toEqual(continuation);
});

test.each(['../x', 'a/../b', './x', 'a//b', 'a/', '..'])(
  'a token whose key %s leads out of the collection is refused',
  (start) => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start })).toString('base64url');
    expect(() => decodeContinue(token)).toThrow(
      `invalid continue token: continue key is not valid: ${start}`,
    );
  },
);

test.each([
  [
    { continue: encodeContinue({ revision: 1_000, after: 'x' }) },
    504,
    'Timeout: Too large resource version: 1000, current: 1',
  ],
  [{ resourceVersion: '1000' }, 504, 'Timeout: Too large resource version: 1000, current: 1'],
  [
    { resourceVersion: '18446744073709551616' },
    400,
    'invalid resource version: resourceVersion: Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": value out of range',
  ],
])('a list at the future revision %j is refused', async (query, code, message) => {
  const kinds = builtInKindCatalog();
  const registry = new EmbeddedRegistry({
    store: new MemoryStore(),
    kinds,
    clock: realClock,
    ids: systemIds,
  });
  await expect(registry.list(kinds.all[0]!, query)).rejects.toMatchObject({ code, message });
});
