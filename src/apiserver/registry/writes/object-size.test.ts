import { expect, test } from 'vitest';
import { realClock } from '../../../runtime/clock.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { bootstrap } from '../bootstrap.ts';
import { canonicalObject } from '../canonical-object.ts';
import { EmbeddedRegistry } from '../embedded-registry.ts';

test('an object above the size limit is refused and not stored', async () => {
  const kinds = builtInKindCatalog();
  const registry = new EmbeddedRegistry({
    store: new MemoryStore(),
    kinds,
    clock: realClock,
    ids: systemIds,
  });
  await bootstrap(registry);
  const pods = kinds.byPlural('v1', 'pods')!;
  const create = (name: string, argsBytes: number) => {
    const args = Array.from({ length: argsBytes / 1_000 }, () => 'a'.repeat(1_000));
    const pod = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'x', args }] } };
    const write = { manager: 'test', user: 'test', warn() {} };
    return registry.create(pods, 'default', canonicalObject(pods, pod), write);
  };
  await expect(create('huge', 2_100_000)).rejects.toMatchObject({
    code: 500,
    message: 'etcdserver: request is too large',
  });
  await create('large', 1_400_000);
  const { items } = await registry.list(pods, {});
  expect(items.map(({ object }) => object.metadata.name)).toEqual(['large']);
});
