import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeBody } from '../schema/decode.ts';
import { parseJsonPath } from './json-path.ts';
import { selectableFields } from './selectable-fields.ts';
import { DefinitionFixture, widgetDefinition } from './testing/definition-fixture.ts';

const write = { manager: 'test', user: 'test', warn: () => {} };
const text = { type: 'string' };

describe('malicious definitions', () => {
  let fixture: DefinitionFixture;
  beforeEach(async () => {
    fixture = await DefinitionFixture.start();
  });
  afterEach(async () => {
    await fixture.stop();
    expect(fixture.errors).toEqual([]);
  });

  test('are served under their own name, whatever their status contains', async () => {
    await fixture.define(widgetDefinition({ v1: {} }));
    const twin = widgetDefinition({ v1: {} });
    twin.metadata.name = 'gadgets.example.com';
    twin.spec.names = { plural: 'gadgets', kind: 'Gadget' };
    await fixture.define(twin);
    const status = { acceptedNames: { plural: 'widgets' } };
    await fixture.changeDefinition('gadgets.example.com', { status }, 'status');
    expect(fixture.kind('example.com/v1', 'gadgets').kind).toBe('Gadget');
    expect(fixture.kind('example.com/v1', 'widgets').kind).toBe('Widget');
    expect((await fixture.definition('gadgets.example.com'))?.status.acceptedNames.plural).toBe('gadgets');
  });

  test('cannot reach the object prototype through the path of replicas', async () => {
    const definition = widgetDefinition({ v1: { color: text } });
    for (const version of definition.spec.versions ?? []) {
      version.subresources = {
        scale: { specReplicasPath: '.spec.__proto__.stolen', statusReplicasPath: '.status.replicas' },
      };
    }
    await fixture.define(definition);
    await fixture.create('v1', 'w', { spec: {} });
    const kind = fixture.kind('example.com/v1', 'widgets');
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w' },
      spec: { replicas: 3 },
    };
    const context = { ...write, subresource: 'scale' };
    const key = { namespace: 'default', name: 'w' };
    await fixture.registry.update(kind, key, scale, context).catch(() => {});
    expect('stolen' in {}).toBe(false);
  });

  test('may have very long invalid paths', () => {
    const blank = ' '.repeat(1_000_000);
    expect(parseJsonPath(`.spec[${blank}x]`)).toBeUndefined();
    expect(parseJsonPath(`.spec[?(@.a${blank}b)]`)).toBeUndefined();
  });

  test('may select by a field that used to be an object', () => {
    const [read] = Object.values(selectableFields([{ jsonPath: '.spec.color' }]));
    const metadata = { name: 'w' };
    const old = { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec: { color: { toString: 1 } } };
    expect(read?.(old)).toBe('');
  });

  test('have objects that cannot be written in protobuf', async () => {
    await fixture.define(widgetDefinition({ v1: {} }));
    const expected = fixture.kind('example.com/v1', 'widgets');
    const about = '\n\x0eexample.com/v1\x12\x06Widget';
    const bytes = Buffer.from(`k8s\0\n${String.fromCharCode(about.length)}${about}\x12\0`, 'latin1');
    const contentType = 'application/vnd.kubernetes.protobuf';
    expect(() => decodeBody({ bytes, contentType, expected, fieldValidation: 'Warn' })).toThrow(
      'Widget in version "v1" cannot be handled as a Widget: object *unstructured.Unstructured does not implement the protobuf marshalling interface',
    );
  });

  test('keep fields of any name in a write of the status', async () => {
    const definition = widgetDefinition({ v1: {} });
    for (const version of definition.spec.versions ?? []) {
      version.subresources = { status: {} };
      version.schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    }
    await fixture.define(definition);
    await fixture.create('v1', 'w', JSON.parse('{"__proto__": {"a": 1}}'));
    const changed = await fixture.patch('v1', 'w', { status: { isReady: true } }, 'status');
    expect(JSON.stringify(changed)).toContain('"__proto__":{"a":1}');
  });
});
