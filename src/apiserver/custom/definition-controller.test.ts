import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isConditionTrue } from '../kinds/apiextensions/definition-conditions.ts';
import { canonicalObject } from '../registry/canonical-object.ts';
import type { UpdateContext } from '../registry/registry.ts';
import { DefinitionFixture, widgetDefinition } from './testing/definition-fixture.ts';

const text = { type: 'string' };
const name = 'widgets.example.com';
const write: UpdateContext = { manager: 'test', user: 'test', warn: () => {} };

describe('a definition', () => {
  let fixture: DefinitionFixture;
  beforeEach(async () => {
    fixture = await DefinitionFixture.start();
    await fixture.define(widgetDefinition({ v1: { color: text } }));
  });
  afterEach(async () => {
    await fixture.stop();
    expect(fixture.errors).toEqual([]);
  });

  test('is served once stored, and reports that in its status', async () => {
    const definition = await fixture.definition(name);
    expect(definition !== undefined && isConditionTrue(definition, 'Established')).toBe(true);
    expect((await fixture.create('v1', 'w', { spec: { color: 'red', odd: 1 } })).spec).toEqual({
      color: 'red',
    });
  });

  test('is served again after a restart without a write', async () => {
    await fixture.create('v1', 'w', { spec: { color: 'red' } });
    const before = await fixture.definition(name);
    await fixture.restart();
    expect(await fixture.definition(name)).toEqual(before);
    expect((await fixture.get('v1', 'w')).spec).toEqual({ color: 'red' });
  });

  test('applies current defaults to old objects and prunes unknown fields', async () => {
    const { metadata } = await fixture.create('v1', 'w', { spec: { color: 'red' } });
    const { spec } = widgetDefinition({ v1: { size: { type: 'integer', default: 3 } } });
    await fixture.changeDefinition(name, { spec });
    const now = await fixture.get('v1', 'w');
    expect(now.spec).toEqual({ size: 3 });
    // Not written by any client.
    expect(now.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test('ends the watches of its kind only if it changes', async () => {
    let ends = 0;
    const listener = { events: () => {}, ended: () => (ends += 1) };
    await fixture.registry.watch(fixture.kind('example.com/v1', 'widgets'), {}, listener);
    await fixture.changeDefinition(name, { metadata: { labels: { a: 'b' } } });
    expect(ends).toBe(0);
    await fixture.changeDefinition(name, widgetDefinition({ v1: { size: text } }));
    expect(ends).toBe(1);
  });

  test('hides fields of the storage version from other versions', async () => {
    await fixture.changeDefinition(
      name,
      widgetDefinition({ v1: { color: text, old: text }, v2: { color: text, young: text } }),
    );
    await fixture.create('v1', 'w', { spec: { color: 'red', old: 'x' } });
    expect((await fixture.get('v2', 'w')).spec).toEqual({ color: 'red' });
    // As in kube-apiserver: fields that the storage version does not know are lost, and so are fields that the writer's
    // version did not show.
    expect((await fixture.patch('v2', 'w', { spec: { young: 'y' } })).spec).toEqual({ color: 'red' });
    expect((await fixture.get('v1', 'w')).spec).toEqual({ color: 'red' });
  });

  test('is deleted with its objects, also if the server stops meanwhile', async () => {
    await fixture.create('v1', 'kept', { spec: {} });
    await fixture.patch('v1', 'kept', { metadata: { finalizers: ['example.com/wait'] } });
    await fixture.create('v1', 'plain', { spec: {} });
    await fixture.deleteDefinition(name);
    await expect(fixture.create('v1', 'late', { spec: {} })).rejects.toThrow('is terminating');
    await fixture.restart();
    expect(await fixture.definition(name)).toBeDefined();
    await expect.poll(() => fixture.get('v1', 'plain').catch((error) => error.message)).toMatch(/not found/);
    await fixture.patch('v1', 'kept', { metadata: { finalizers: null } });
    await expect.poll(() => fixture.definition(name)).toBeUndefined();
    expect(fixture.registry.kinds.byPlural('example.com/v1', 'widgets')).toBeUndefined();
  });

  test('gets a conflicting name once the other definition is deleted', async () => {
    const twin = widgetDefinition({ v1: {} });
    twin.metadata.name = 'gadgets.example.com';
    twin.spec.names = { plural: 'gadgets', kind: 'Widget', listKind: 'GadgetList' };
    await fixture.define(twin);
    expect(fixture.registry.kinds.byPlural('example.com/v1', 'gadgets')).toBeUndefined();
    await fixture.deleteDefinition(name);
    await expect
      .poll(() => fixture.registry.kinds.byPlural('example.com/v1', 'gadgets')?.kind)
      .toBe('Widget');
  });

  test.each(['v1', 'v9'])('of a built-in resource does not affect it, in %s', async (version) => {
    const impostor = widgetDefinition({ [version]: {} });
    impostor.metadata = {
      name: 'leases.coordination.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    };
    impostor.spec.group = 'coordination.k8s.io';
    impostor.spec.names = { plural: 'leases', kind: 'Lease' };
    const own = fixture.kind('coordination.k8s.io/v1', 'leases');
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'mine' } };
    await fixture.registry.create(own, 'default', canonicalObject(own, lease), write);
    await fixture.define(impostor);
    expect(fixture.kind('coordination.k8s.io/v1', 'leases')).toBe(own);
    expect(fixture.registry.kinds.byPlural('coordination.k8s.io/v9', 'leases')).toBeUndefined();
    await fixture.deleteDefinition('leases.coordination.k8s.io');
    await expect.poll(() => fixture.definition('leases.coordination.k8s.io')).toBeUndefined();
    expect((await fixture.registry.list(own, {})).items).toHaveLength(1);
  });

  test('with the kind of a built-in resource does not replace it', async () => {
    const impostor = widgetDefinition({ v1: {} });
    impostor.metadata = {
      name: 'rentals.coordination.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    };
    impostor.spec.group = 'coordination.k8s.io';
    impostor.spec.names = { plural: 'rentals', kind: 'Lease' };
    await fixture.define(impostor);
    const own = fixture.kind('coordination.k8s.io/v1', 'leases');
    expect(fixture.kind('coordination.k8s.io/v1', 'rentals')).not.toBe(own);
    expect(fixture.registry.kinds.byKind('coordination.k8s.io/v1', 'Lease')).toBe(own);
  });
});
