import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodedObject } from '../decoded-object.ts';
import type { RegistryEvent } from '../registry/api.ts';
import { DefinedWorld, type Widget, widgetDefinition } from './testing/defined-world.ts';

const write = { manager: 'test', user: 'test', warn: () => {} };
const text = { type: 'string' };
const name = 'widgets.example.com';
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'late' } };

describe('a kind that somebody holds while its definition', () => {
  let world: DefinedWorld;
  beforeEach(async () => {
    world = await DefinedWorld.start();
    await world.define(widgetDefinition({ v1: { color: text, old: text }, v2: { color: text } }));
  });
  afterEach(async () => {
    await world.stop();
    expect(world.problems).toEqual([]);
  });

  async function removeDefinition(): Promise<void> {
    await world.undefine(name);
    await expect.poll(() => world.definition(name)).toBeUndefined();
    await world.definitions?.settled();
  }

  test('goes takes no more objects', async () => {
    const held = world.kind('example.com/v1', 'widgets');
    await removeDefinition();
    const late = world.registry.create(held, 'default', decodedObject(held, widget), write);
    await expect(late).rejects.toThrow('is terminating');
  });

  test('goes and comes again takes no objects for the new one', async () => {
    const held = world.kind('example.com/v1', 'widgets');
    await removeDefinition();
    await world.define(widgetDefinition({ v1: { size: text } }));
    const late = world.registry.create(held, 'default', decodedObject(held, widget), write);
    await expect(late).rejects.toThrow('is terminating');
  });

  test('changes is not watched for long', async () => {
    const held = world.kind('example.com/v1', 'widgets');
    await world.changeDefinition(name, widgetDefinition({ v1: { size: text } }));
    let ends = 0;
    await world.registry.watch(held, {}, { events: () => {}, ended: () => (ends += 1) });
    expect(ends).toBe(1);
  });

  test('stays shows objects as they were when they go, also what the version of the deletion does not know', async () => {
    const seen: RegistryEvent[] = [];
    const kind = world.kind('example.com/v1', 'widgets');
    await world.create('v1', 'w', { spec: { color: 'red', old: 'x' } });
    await world.registry.watch(kind, {}, { events: (events) => seen.push(...events) });
    const other = world.kind('example.com/v2', 'widgets');
    await world.registry.delete(other, { namespace: 'default', name: 'w' }, {}, write);
    await expect.poll(() => seen.length).toBe(2);
    const [, last] = seen;
    const gone = last?.type === 'DELETED' ? (last.snapshot.object as Widget) : undefined;
    expect(gone?.spec).toEqual({ color: 'red', old: 'x' });
  });
});

test('a definition goes although somebody has changed it while its objects went', async () => {
  const world = await DefinedWorld.start();
  await world.define(widgetDefinition({ v1: {} }));
  await world.create('v1', 'kept', { spec: {} });
  await world.patch('v1', 'kept', { metadata: { finalizers: ['example.com/wait'] } });
  await world.undefine(name);
  await expect
    .poll(() => world.get('v1', 'kept').then((kept) => kept.metadata.deletionTimestamp))
    .toBeDefined();
  await world.changeDefinition(name, { metadata: { labels: { late: 'yes' } } });
  await world.patch('v1', 'kept', { metadata: { finalizers: null } });
  await expect.poll(() => world.definition(name), { timeout: 5_000 }).toBeUndefined();
  await world.stop();
  expect(world.problems).toEqual([]);
});

test('a definition is settled also when it comes just when the others are', async () => {
  const world = await DefinedWorld.start();
  const served: boolean[] = [];
  for (let turns = 0; turns < 40; turns++) {
    const first = world.define(definitionOf(`firsts${turns}`));
    for (let turn = 0; turn < turns; turn++) await undefined;
    await world.define(definitionOf(`seconds${turns}`));
    await first;
    served.push(world.registry.kinds.byPlural('example.com/v1', `seconds${turns}`) !== undefined);
  }
  expect(served).not.toContain(false);
  await world.stop();
});

function definitionOf(plural: string): ReturnType<typeof widgetDefinition> {
  const definition = widgetDefinition({ v1: {} });
  definition.metadata.name = `${plural}.example.com`;
  definition.spec.names = { plural, kind: plural.toUpperCase() };
  return definition;
}
