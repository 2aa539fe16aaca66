import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canonicalObject } from '../registry/canonical-object.ts';
import type { RegistryEvent } from '../registry/registry.ts';
import { DefinitionFixture, type Widget, widgetDefinition } from './testing/definition-fixture.ts';

const write = { manager: 'test', user: 'test', warn: () => {} };
const text = { type: 'string' };
const name = 'widgets.example.com';
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'late' } };

describe('a kind in use while its definition', () => {
  let fixture: DefinitionFixture;
  beforeEach(async () => {
    fixture = await DefinitionFixture.start();
    await fixture.define(widgetDefinition({ v1: { color: text, old: text }, v2: { color: text } }));
  });
  afterEach(async () => {
    await fixture.stop();
    expect(fixture.errors).toEqual([]);
  });

  async function removeDefinition(): Promise<void> {
    await fixture.deleteDefinition(name);
    await expect.poll(() => fixture.definition(name)).toBeUndefined();
    await fixture.definitions?.settled();
  }

  test('is deleted accepts no more objects', async () => {
    const held = fixture.kind('example.com/v1', 'widgets');
    await removeDefinition();
    const late = fixture.registry.create(held, 'default', canonicalObject(held, widget), write);
    await expect(late).rejects.toThrow('is terminating');
  });

  test('is deleted and recreated accepts no objects for the new one', async () => {
    const held = fixture.kind('example.com/v1', 'widgets');
    await removeDefinition();
    await fixture.define(widgetDefinition({ v1: { size: text } }));
    const late = fixture.registry.create(held, 'default', canonicalObject(held, widget), write);
    await expect(late).rejects.toThrow('is terminating');
  });

  test('changes ends its watches', async () => {
    const held = fixture.kind('example.com/v1', 'widgets');
    await fixture.changeDefinition(name, widgetDefinition({ v1: { size: text } }));
    let ends = 0;
    await fixture.registry.watch(held, {}, { events: () => {}, ended: () => (ends += 1) });
    expect(ends).toBe(1);
  });

  test('stays shows complete objects in their removal, also fields unknown to the version used for the deletion', async () => {
    const seen: RegistryEvent[] = [];
    const kind = fixture.kind('example.com/v1', 'widgets');
    await fixture.create('v1', 'w', { spec: { color: 'red', old: 'x' } });
    await fixture.registry.watch(kind, {}, { events: (events) => seen.push(...events) });
    const other = fixture.kind('example.com/v2', 'widgets');
    await fixture.registry.delete(other, { namespace: 'default', name: 'w' }, {}, write);
    await expect.poll(() => seen.length).toBe(2);
    const [, last] = seen;
    const gone = last?.type === 'DELETED' ? (last.snapshot.object as Widget) : undefined;
    expect(gone?.spec).toEqual({ color: 'red', old: 'x' });
  });
});

test('a definition is removed even if it was changed while its objects were deleted', async () => {
  const fixture = await DefinitionFixture.start();
  await fixture.define(widgetDefinition({ v1: {} }));
  await fixture.create('v1', 'kept', { spec: {} });
  await fixture.patch('v1', 'kept', { metadata: { finalizers: ['example.com/wait'] } });
  await fixture.deleteDefinition(name);
  await expect
    .poll(() => fixture.get('v1', 'kept').then((kept) => kept.metadata.deletionTimestamp))
    .toBeDefined();
  await fixture.changeDefinition(name, { metadata: { labels: { late: 'yes' } } });
  await fixture.patch('v1', 'kept', { metadata: { finalizers: null } });
  await expect.poll(() => fixture.definition(name), { timeout: 120_000 }).toBeUndefined();
  await fixture.stop();
  expect(fixture.errors).toEqual([]);
});

test('a definition that arrives at the end of a run is accepted too', async () => {
  const fixture = await DefinitionFixture.start();
  const served: boolean[] = [];
  for (let turns = 0; turns < 40; turns++) {
    const first = fixture.define(definitionOf(`firsts${turns}`));
    for (let turn = 0; turn < turns; turn++) await undefined;
    await fixture.define(definitionOf(`seconds${turns}`));
    await first;
    served.push(fixture.registry.kinds.byPlural('example.com/v1', `seconds${turns}`) !== undefined);
  }
  expect(served).not.toContain(false);
  await fixture.stop();
});

function definitionOf(plural: string): ReturnType<typeof widgetDefinition> {
  const definition = widgetDefinition({ v1: {} });
  definition.metadata.name = `${plural}.example.com`;
  definition.spec.names = { plural, kind: plural.toUpperCase() };
  return definition;
}
