import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import { openApiName } from '../../schema/type-info.ts';
import { descriptionOf } from './descriptions.ts';
import { SchemaCollector } from './schemas.ts';

test('every built-in kind and each of its fields has a description, as kubectl explain prints it', () => {
  const schemas = new SchemaCollector(descriptionOf);
  const silent: string[] = [];
  for (const kind of builtInKindCatalog().all) {
    schemas.ofKind(kind);
    const schema = schemas.schemas[openApiName(kind.type)] as {
      description?: string;
      properties: Record<string, { description?: string }>;
    };
    if (schema.description === undefined) silent.push(kind.kind);
    for (const [name, field] of Object.entries(schema.properties))
      if (field.description === undefined) silent.push(`${kind.kind}.${name}`);
  }
  expect(silent).toEqual([]);
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
