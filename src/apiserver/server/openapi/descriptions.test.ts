import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import { openApiName } from '../../schema/type-info.ts';
import { descriptionOf } from './descriptions.ts';
import { SchemaCollector } from './schemas.ts';
import { openApiV2Json } from './v2-document.ts';

interface DescribedSchema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
}

test('every built-in kind, its list and each of their fields has a description, as kubectl explain prints it', () => {
  const schemas = new SchemaCollector(descriptionOf);
  const silent: string[] = [];
  for (const kind of builtInKindCatalog().all) {
    schemas.listOf(kind);
    for (const suffix of ['', 'List']) {
      const schema = schemas.schemas[openApiName(kind.type) + suffix] as unknown as DescribedSchema;
      if (schema.description === undefined) silent.push(kind.kind + suffix);
      for (const [name, field] of Object.entries(schema.properties))
        if (field.description === undefined) silent.push(`${kind.kind}${suffix}.${name}`);
    }
  }
  expect(silent).toEqual([]);
});

test('OpenAPI v2 has the descriptions too', async () => {
  const { definitions } = JSON.parse((await openApiV2Json(builtInKindCatalog())).toString()) as {
    definitions: Record<string, DescribedSchema>;
  };
  expect(definitions['io.k8s.api.core.v1.PodSpec']?.properties.nodeName?.description).toMatch(/^NodeName/);
  expect(definitions['io.k8s.api.core.v1.PodList']?.description).toBe('PodList is a list of Pods.');
});

test('a field that Kubernetes does not have has one too', () => {
  const { fields = {} } = descriptionOf('io.k8s.api.core.v1.CSIVolumeSource');
  expect(fields.fsSize).toMatch(/^fsSize is the size of the volume/);
  expect(fields.fsType).toMatch(/^fsType/);
});

test('a field deep inside has its description', () => {
  const schemas = new SchemaCollector(descriptionOf);
  schemas.reference('core/v1.Pod');
  const spec = schemas.schemas['io.k8s.api.core.v1.PodSpec'] as {
    properties: Record<string, { description?: string }>;
  };
  expect(spec.properties.nodeName?.description).toMatch(
    /^NodeName indicates in which node this pod is scheduled/,
  );
});

test('a type that Kubernetes does not have has none', () => {
  expect(descriptionOf('com.example.v1.Widget')).toEqual({});
  expect(descriptionOf('constructor')).toEqual({});
});
