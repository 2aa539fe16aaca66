import { describe, expect, test } from 'vitest';
import { shapeOfType } from '../patch/type-shapes.ts';
import { typeProblems } from './typed-check.ts';

const pod = shapeOfType('core/v1.Pod');
const container = { name: 'a', image: 'a:1' };

describe('a configuration', () => {
  test.each([
    [{ spec: { containers: [container] } }, undefined],
    [{ metadata: null, spec: { nodeName: null, containers: null } }, undefined],
    [{ odd: 1 }, '.odd: field not declared in schema'],
    [{ spec: 'x' }, '.spec: expected map, got &{x}'],
    [{ spec: { containers: {} } }, '.spec.containers: expected list, got &{map[]}'],
    [{ spec: { nodeName: 1 } }, '.spec.nodeName: expected string, got &value.valueUnstructured{Value:1}'],
    [{ spec: { priority: '1' } }, '.spec.priority: expected numeric (int or float), got string'],
    [{ spec: { hostPID: 'true' } }, '.spec.hostPID: expected boolean, got &{true}'],
    [{ spec: { overhead: { cpu: {} } } }, '.spec.overhead.cpu: expected any scalar, got &{map[]}'],
    [
      { spec: { containers: [container, container] } },
      '.spec.containers: duplicate entries for key [name="a"]',
    ],
    [{ metadata: { finalizers: ['a', 'a'] } }, '.metadata.finalizers: duplicate entries for key [="a"]'],
    [
      { spec: { containers: ['a'] } },
      '.spec.containers: element 0: associative list with keys may not have non-map elements',
    ],
    [
      { spec: { containers: [null] } },
      '.spec.containers: element 0: associative list with keys may not have a null element',
    ],
    [{ spec: { tolerations: [{ odd: 1 }] } }, '.spec.tolerations[0].odd: field not declared in schema'],
    [
      { spec: { nodeName: 1, hostPID: 1 } },
      'errors:\n  .spec.nodeName: expected string, got &value.valueUnstructured{Value:1}\n  .spec.hostPID: expected boolean, got &{1}',
    ],
  ])('the problems of %j are reported', (config, problems) => {
    expect(typeProblems(config, pod)).toBe(problems);
  });
});
