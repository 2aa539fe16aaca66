import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RegistryEvent } from '../registry/registry.ts';
import { DefinitionFixture, widgetDefinition } from './testing/definition-fixture.ts';

const count = 1_500;
const size = { type: 'integer', default: 3 };

/** Counts the turns of the event loop that other work got meanwhile. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let [turns, isDone] = [0, false];
  void work.finally(() => (isDone = true));
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  return turns;
}

describe('the first list of many objects of a custom kind', () => {
  let fixture: DefinitionFixture;
  beforeEach(async () => {
    fixture = await DefinitionFixture.start();
    await fixture.define(widgetDefinition({ v1: { color: { type: 'string' } } }));
    for (let index = 0; index < count; index += 1)
      await fixture.create('v1', `w${index}`, { spec: { color: 'red' } });
    const { spec } = widgetDefinition({ v1: { size } });
    await fixture.changeDefinition('widgets.example.com', { spec });
  });
  afterEach(async () => {
    await fixture.stop();
    expect(fixture.errors).toEqual([]);
  });

  const kind = () => fixture.kind('example.com/v1', 'widgets');
  const shows = (object: unknown) => expect(object).toMatchObject({ spec: { size: 3 } });

  test('yields to other work, once', async () => {
    const first = fixture.registry.list(kind(), {});
    expect(await turnsDuring(first)).toBeGreaterThanOrEqual(Math.floor(count / 200));
    expect(await turnsDuring(fixture.registry.list(kind(), {}))).toBeLessThanOrEqual(1);
    const { items } = await first;
    expect(items).toHaveLength(count);
    for (const { object } of items) shows(object);
  });

  test('yields to other work also as a watch', async () => {
    const seen: RegistryEvent[] = [];
    const watch = fixture.registry.watch(kind(), {}, { events: (events) => seen.push(...events) });
    expect(await turnsDuring(watch)).toBeGreaterThanOrEqual(Math.floor(count / 200));
    expect(seen).toHaveLength(count);
    for (const event of seen) if (event.type !== 'BOOKMARK') shows(event.snapshot.object);
  });

  test('shows one state, whatever is written meanwhile', async () => {
    const list = fixture.registry.list(kind(), {});
    const watch = fixture.registry.watch(kind(), {}, { events: () => {} });
    const late = fixture.create('v1', 'late', { spec: {} });
    const { metadata } = await late;
    const { items, resourceVersion } = await list;
    const isNewer = Number(resourceVersion) >= Number(metadata.resourceVersion);
    expect(items.some(({ object }) => object.metadata.name === 'late')).toBe(isNewer);
    expect(items).toHaveLength(count + (isNewer ? 1 : 0));
    (await watch).close();
  });

  test('of a page or one object converts no more than that', async () => {
    const page = fixture.registry.list(kind(), { limit: 10 });
    expect(await turnsDuring(page)).toBeLessThanOrEqual(1);
    expect((await page).items).toHaveLength(10);
    const one = fixture.registry.list(kind(), { namespace: 'default', fieldSelector: 'metadata.name=w7' });
    expect(await turnsDuring(one)).toBeLessThanOrEqual(1);
    expect((await one).items).toHaveLength(1);
  });
});
