import { patch, put, type Scenario, type Step, scenario } from '../scenario.ts';
import { define, widget, widgets } from './custom-definitions.ts';
import { anything, objectUpdates, specs } from './custom-scenarios.ts';

export const customRuleScenarios: readonly Scenario[] = [
  specs(
    'rules of custom resources',
    'rules.example.com',
    {
      type: 'object',
      'x-kubernetes-validations': [
        { rule: 'self.min <= self.max' },
        { rule: 'self.min >= 0', message: 'the least must not be negative', reason: 'FieldValueForbidden' },
        {
          rule: 'self.max < 100',
          messageExpression: "self.max > 150 ? 'far too large' : 'at most 99'",
          fieldPath: '.max',
        },
        { rule: "!has(self.name) || self.name.startsWith('w')", fieldPath: '.name' },
        { rule: "!has(self.when) || self.when > timestamp('2020-01-01T00:00:00Z')" },
        { rule: "!has(self.size) || quantity(self.size).isLessThan(quantity('1Gi'))" },
        { rule: 'has(self.parts) ? self.parts.all(p, p.n > 0) : true', message: 'parts need numbers' },
        { rule: '!has(self.list) || self.list.sum() < 10' },
      ],
      required: ['min', 'max'],
      properties: {
        min: { type: 'integer', maximum: 1000 },
        max: { type: 'integer' },
        name: { type: 'string', maxLength: 64 },
        when: { type: 'string', format: 'date-time' },
        size: { type: 'string', maxLength: 20 },
        list: { type: 'array', maxItems: 10, items: { type: 'integer' } },
        parts: {
          type: 'array',
          maxItems: 10,
          items: {
            type: 'object',
            properties: { n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self != 13' }] } },
          },
        },
      },
    },
    [
      { min: 1, max: 2 },
      { min: 3, max: 2 },
      { min: -1, max: 2 },
      { min: 1, max: 200 },
      { min: 1 },
      { min: 'a', max: 2 },
      { min: 1, max: 2, name: 'x' },
      { min: 1, max: 2, name: 'wx', when: '2019-01-01T00:00:00Z' },
      { min: 1, max: 2, when: '2021-01-01T00:00:00Z', size: '2Gi' },
      { min: 1, max: 2, size: 'none' },
      { min: 1, max: 2, parts: [{ n: 1 }, { n: 0 }] },
      { min: 1, max: 2, parts: [{ n: 1 }, {}] },
      { min: 1, max: 2, parts: [{ n: 13 }] },
      { min: 1, max: 2, list: [5, 6] },
      { min: 300, max: 200, name: 'x', parts: [{ n: 13 }] },
    ],
  ),
  objectUpdates({
    name: 'rules about what was before',
    group: 'transitions.example.com',
    spec: {
      type: 'object',
      properties: {
        fixed: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is fixed' }],
        },
        count: {
          type: 'integer',
          'x-kubernetes-validations': [
            { rule: '!oldSelf.hasValue() || self >= oldSelf.value()', optionalOldSelf: true },
          ],
        },
        parts: {
          type: 'array',
          maxItems: 10,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', maxLength: 10 },
              n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] },
            },
          },
        },
        plain: {
          type: 'array',
          maxItems: 10,
          items: { type: 'integer', minimum: 0 },
          'x-kubernetes-validations': [{ rule: 'self.size() >= oldSelf.size()' }],
        },
      },
    },
    first: { fixed: 'a', count: 3, parts: [{ name: 'x', n: 5 }], plain: [1, 2] },
    changes: [
      { fixed: 'b' },
      { fixed: null },
      { count: 2 },
      { count: 4 },
      { count: null },
      { parts: [{ name: 'y', n: 1 }] },
      {
        parts: [
          { name: 'y', n: 1 },
          { name: 'x', n: 4 },
        ],
      },
      { plain: [1] },
      { plain: [3, 4, 5] },
    ],
  }),
  objectUpdates({
    name: 'what was allowed may stay',
    group: 'ratchet.example.com',
    spec: {
      type: 'object',
      properties: {
        word: { type: 'string' },
        other: { type: 'string' },
        list: { type: 'array', items: { type: 'string' } },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, v: { type: 'string' } },
          },
        },
        rule: { type: 'integer' },
      },
    },
    first: { word: 'long word', other: 'x', list: ['a', 'bb'], map: [{ name: 'a', v: 'vvv' }], rule: 5 },
    tightened: {
      type: 'object',
      required: ['new'],
      properties: {
        new: { type: 'string' },
        word: { type: 'string', maxLength: 3 },
        other: { type: 'string', maxLength: 3 },
        list: { type: 'array', items: { type: 'string', maxLength: 1 } },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, v: { type: 'string', maxLength: 1 } },
          },
        },
        rule: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 3' }] },
      },
    },
    changes: [
      { other: 'y' },
      { new: 'n' },
      { new: 'n', word: 'longer word' },
      { new: 'n', other: 'much longer' },
      { new: 'n', list: ['a', 'bb', 'c'] },
      { new: 'n', list: ['bb', 'a'] },
      { new: 'n', map: [{ name: 'b' }, { name: 'a', v: 'vvv' }] },
      { new: 'n', map: [{ name: 'b', v: 'vvv' }] },
      { new: 'n', rule: 4 },
      { new: 'n', rule: 5, other: 'z' },
    ],
  }),
  scenario(
    'server-side apply to a custom resource',
    define({
      group: 'applied.example.com',
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              color: { type: 'string' },
              set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
              whole: { type: 'array', items: { type: 'string' } },
              atomic: {
                type: 'object',
                'x-kubernetes-map-type': 'atomic',
                properties: { a: { type: 'string' }, b: { type: 'string' } },
              },
              map: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['name'],
                items: {
                  type: 'object',
                  required: ['name'],
                  properties: { name: { type: 'string' }, v: { type: 'integer' } },
                },
              },
              open: anything,
            },
          },
          status: { type: 'object', properties: { phase: { type: 'string' } } },
        },
      },
      version: { subresources: { status: {} } },
    }),
    apply('a', { color: 'red', set: ['x'], map: [{ name: 'p', v: 1 }], open: { k: 1, l: [1] } }),
    apply('b', { set: ['y'], map: [{ name: 'q', v: 2 }], open: { m: 2 }, whole: ['1'], atomic: { a: 'a' } }),
    apply('c', { color: 'blue', atomic: { b: 'b' }, open: { k: 2, l: [2] } }),
    apply('c', { color: 'blue', atomic: { b: 'b' } }, 'force=true'),
    apply('a', { set: ['x'], map: [{ name: 'p', v: 3 }] }),
    apply('a', { odd: 1 }),
    apply('a', { color: 1 }),
    apply('b', {}),
    patch('apply', `${widgets('applied.example.com')}/w/status?fieldManager=s`, {
      ...widget('applied.example.com', { color: 'no' }),
      status: { phase: 'Ready' },
    }),
    put(`${widgets('applied.example.com')}/w?fieldManager=a`, widget('applied.example.com', { color: 'x' })),
  ),
];

function apply(manager: string, spec: object, query = 'force=false'): Step {
  const group = 'applied.example.com';
  return patch('apply', `${widgets(group)}/w?fieldManager=${manager}&${query}`, widget(group, spec));
}
