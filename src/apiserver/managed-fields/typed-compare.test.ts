import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../kube/go/json-value.ts';
import { shapeOfType } from '../patch/type-shapes.ts';
import { compareTyped, fieldSetOf } from './typed-compare.ts';

const shape = shapeOfType('core/v1.PodSpec');

interface Scenario {
  readonly name: string;
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly expected: unknown;
}

const web = { name: 'web', image: 'web:1', resources: {} };
const log = { name: 'log', image: 'log:1', resources: {} };

const scenarios: readonly Scenario[] = [
  {
    name: 'elements in another order are not a change',
    old: { containers: [web, log] },
    next: { containers: [log, web] },
    expected: {},
  },
  {
    name: 'an element is found by its key',
    old: { containers: [web, log] },
    next: { containers: [log, { ...web, image: 'web:2' }] },
    expected: { modified: { 'f:containers': { 'k:{"name":"web"}': { 'f:image': {} } } } },
  },
  {
    name: 'a struct that is always there is not added with its fields',
    old: { containers: [web] },
    next: { containers: [{ ...web, resources: { limits: { cpu: '1' } } }] },
    expected: {
      added: {
        'f:containers': {
          'k:{"name":"web"}': { 'f:resources': { 'f:limits': { '.': {}, 'f:cpu': {} } } },
        },
      },
    },
  },
  {
    name: 'what is atomic changes as a whole',
    old: { nodeSelector: { a: '1' }, tolerations: [{ key: 'x' }] },
    next: { nodeSelector: { b: '1' }, tolerations: [] },
    expected: { modified: { 'f:nodeSelector': {}, 'f:tolerations': {} } },
  },
  {
    name: 'an element that becomes two of one key is no longer looked into',
    old: { containers: [web] },
    next: { containers: [web, { ...web, image: 'web:2' }] },
    expected: {
      added: { 'f:containers': { 'k:{"name":"web"}': {} } },
      removed: {
        'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
      },
    },
  },
  {
    name: 'two elements of one key are compared as they stand',
    old: { containers: [web, { ...web, image: 'web:2' }] },
    next: { containers: [web, { ...web, image: 'web:3' }] },
    expected: { modified: { 'f:containers': { 'k:{"name":"web"}': {} } } },
  },
  {
    name: 'emptying a list removes its elements, not the list',
    old: { containers: [log] },
    next: { containers: [] },
    expected: {
      removed: {
        'f:containers': { 'k:{"name":"log"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
      },
    },
  },
];

describe('comparing', () => {
  test.each(scenarios)('$name', ({ old, next, expected }) => {
    expect(compareTyped(old, next, shape) ?? {}).toEqual(expected);
  });

  test('treats names that objects inherit as plain keys', () => {
    const [old, next] = [{ data: {} }, { data: { constructor: 'x' } }];
    const change = compareTyped(old, next, shapeOfType('core/v1.ConfigMap'));
    expect(change).toEqual({ added: { 'f:data': { 'f:constructor': {} } } });
  });
});

describe('the fields of a value', () => {
  test('are the value itself and everything below it, in order', () => {
    const volumes = [
      { name: 'b', emptyDir: {} },
      { name: 'a', persistentVolumeClaim: { claimName: 'c' } },
    ];
    expect(JSON.stringify(fieldSetOf({ volumes }, shape))).toBe(
      JSON.stringify({
        '.': {},
        'f:volumes': {
          '.': {},
          'k:{"name":"a"}': {
            '.': {},
            'f:name': {},
            'f:persistentVolumeClaim': { '.': {}, 'f:claimName': {} },
          },
          'k:{"name":"b"}': { '.': {}, 'f:emptyDir': {}, 'f:name': {} },
        },
      }),
    );
  });
});
