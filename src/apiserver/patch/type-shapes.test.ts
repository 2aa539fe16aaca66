import { describe, expect, test } from 'vitest';
import { tableIds } from '../schema/type-table.ts';
import type { ListShape, MergeShape } from './merge-shape.ts';
import { shapeOfType } from './type-shapes.ts';

describe('the shape of a type', () => {
  test('can be walked to the end for every type of the tables', () => {
    const seen = new Set<MergeShape>();
    for (const id of tableIds()) visit(shapeOfType(id), seen);
    expect(seen.size).toBeGreaterThan(500);
  });

  test('has the keys of list elements, for patches and for field owners', () => {
    const ports = shapeOfType('core/v1.Container').fields.get('ports')!;
    expect(ports.mergeKey).toBe('containerPort');
    expect((ports.shape as ListShape).keys).toEqual([
      { name: 'containerPort', whenAbsent: 0 },
      { name: 'protocol', whenAbsent: 'TCP' },
    ]);
  });

  test.each([
    ['core/v1.Pod', 'status', {}],
    ['core/v1.PodSpec', 'containers', null],
    ['core/v1.PodSpec', 'volumes', undefined],
    ['core/v1.PodSpec', 'securityContext', undefined],
    ['apps/v1.StatefulSetSpec', 'serviceName', ''],
    ['apps/v1.DeploymentSpec', 'selector', null],
  ])('has the value of %s.%s that JSON leaves out', (id, name, zero) => {
    expect(shapeOfType(id).fields.get(name)!.zero).toEqual(zero);
  });

  test('includes the fields of embedded structs', () => {
    expect(shapeOfType('core/v1.Volume').fields.get('persistentVolumeClaim')?.shape.kind).toBe('struct');
  });
});

function visit(shape: MergeShape, seen: Set<MergeShape>): void {
  if (seen.has(shape)) return;
  seen.add(shape);
  if (shape.kind === 'struct') for (const field of shape.sortedFields) visit(field.shape, seen);
  if (shape.kind === 'list') visit(shape.element, seen);
  if (shape.kind === 'map') visit(shape.value, seen);
}
