import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiError } from '../../kube/api-error.ts';
import type { PatchType } from '../registry/registry.ts';
import { DefinitionFixture, widgetDefinition } from './testing/definition-fixture.ts';

const key = { namespace: 'default', name: 'w' };
const write = { manager: 'scaler', user: 'test', warn: () => {}, subresource: 'scale' };

let fixture: DefinitionFixture;
beforeEach(async () => {
  fixture = await DefinitionFixture.start();
  const definition = widgetDefinition({ v1: { size: { type: 'integer' }, count: { type: 'integer' } } });
  for (const version of definition.spec.versions ?? []) {
    const paths = { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' };
    version.subresources = { scale: paths };
  }
  await fixture.define(definition);
});
afterEach(async () => {
  await fixture.stop();
  expect(fixture.errors).toEqual([]);
});

const widgets = () => fixture.kind('example.com/v1', 'widgets');
const patchScale = (body: object, type: PatchType = 'merge') =>
  fixture.registry.patch(widgets(), key, { type, body, fieldValidation: 'Strict' }, write);
const messageOf = (call: Promise<unknown>) => call.then(String, (error: ApiError) => error.message);

describe('a custom resource without replicas', () => {
  beforeEach(() => fixture.create('v1', 'w', { spec: { size: 1 } }));

  test('has no readable scale', async () => {
    const shown = fixture.registry.get(widgets(), key, { subresource: 'scale' });
    expect(await messageOf(shown)).toBe(
      'Internal error occurred: the spec replicas field ".spec.count" does not exist',
    );
  });

  test.each([
    ['merge', { spec: { replicas: 3 } }],
    ['json', [{ op: 'replace', path: '/spec/replicas', value: 3 }]],
  ] as const)('can be scaled by a %s patch', async (type, body) => {
    const { snapshot } = await patchScale(body, type);
    expect(snapshot.object).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    expect((await fixture.get('v1', 'w')).spec).toEqual({ size: 1, count: 3 });
  });

  test('is not scaled by a Scale without replicas', async () => {
    expect(await messageOf(patchScale({ metadata: { labels: { a: 'b' } } }))).toBe(
      'the spec replicas field ".spec.count" cannot be empty',
    );
  });
});

test('applying a scale records ownership of the field that the definition names', async () => {
  await fixture.create('v1', 'w', { spec: { size: 1, count: 1 } });
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' } };
  const conflict = await messageOf(patchScale({ ...scale, spec: { replicas: 2 } }, 'apply'));
  expect(conflict).toBe(
    'Apply failed with 1 conflict: conflict with "test" using autoscaling/v1: .spec.replicas',
  );
  await patchScale({ ...scale, spec: { replicas: 1 } }, 'apply');
  const { metadata } = await fixture.get('v1', 'w');
  const owned = metadata.managedFields?.find(({ manager }) => manager === 'scaler');
  expect(owned).toMatchObject({ apiVersion: 'example.com/v1', fieldsV1: { 'f:spec': { 'f:count': {} } } });
});

describe('a patch that removes kind or apiVersion from a custom resource', () => {
  const refused = (why: string) => new RegExp(`^ "" is invalid: patch: Invalid value: .*: ${why}`);

  test.each([
    [{ kind: null }, refused(`Object 'Kind' is missing in '{`)],
    [{ kind: null, apiVersion: null }, refused(`Object 'Kind' is missing in '{`)],
    [
      { kind: 5 },
      refused(`couldn't get version/kind; json parse error: json: cannot unmarshal number into Go`),
    ],
    [{ apiVersion: 'a/b/c' }, refused('unexpected GroupVersion string: a/b/c$')],
    [
      { apiVersion: null },
      /^Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion/,
    ],
  ])('is refused: %j', async (body, message) => {
    await fixture.create('v1', 'w', { spec: { size: 1 } });
    expect(await messageOf(fixture.patch('v1', 'w', body))).toMatch(message);
    expect(await messageOf(fixture.patch('v1', 'w', body, 'status'))).toMatch(message);
  });
});
