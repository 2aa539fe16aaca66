import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installDefinitions } from './install-definitions.ts';
import { DefinitionFixture, widgetDefinition } from './testing/definition-fixture.ts';

const text = { type: 'string' };
const name = 'widgets.example.com';

describe('the definitions of the program', () => {
  let fixture: DefinitionFixture;
  beforeEach(async () => {
    fixture = await DefinitionFixture.start();
    await install({ v1alpha1: { color: text } });
    await fixture.create('v1alpha1', 'w', { spec: { color: 'red' } });
  });
  afterEach(async () => {
    await fixture.stop();
    expect(fixture.errors).toEqual([]);
  });

  async function install(versions: Parameters<typeof widgetDefinition>[0]): Promise<void> {
    await installDefinitions(fixture.registry, [widgetDefinition(versions)]);
    await fixture.definitions?.settled();
  }

  test('are written once, however often the program starts', async () => {
    const before = await fixture.definition(name);
    await fixture.restart();
    await install({ v1alpha1: { color: text } });
    expect(await fixture.definition(name)).toEqual(before);
  });

  test('migrate stored objects to a new version', async () => {
    await install({
      v1beta1: { color: text, size: { type: 'integer', default: 3 } },
      v1alpha1: { color: text },
    });
    expect((await fixture.get('v1beta1', 'w')).spec).toEqual({ color: 'red', size: 3 });
    expect((await fixture.get('v1alpha1', 'w')).spec).toEqual({ color: 'red' });
    expect((await fixture.definition(name))?.status.storedVersions).toEqual(['v1beta1']);
  });

  test('may drop a version in which objects are stored', async () => {
    await install({ v1: { color: text } });
    expect((await fixture.get('v1', 'w')).spec).toEqual({ color: 'red' });
    const definition = await fixture.definition(name);
    expect(definition?.status.storedVersions).toEqual(['v1']);
    expect(definition?.spec.versions?.map((version) => version.name)).toEqual(['v1']);
  });

  test('keep additions of users', async () => {
    await fixture.changeDefinition(name, { metadata: { labels: { team: 'storage' } } });
    await install({ v1alpha1: { color: text } });
    expect((await fixture.definition(name))?.metadata.labels).toEqual({ team: 'storage' });
  });
});
