import { get, patch, post, type Scenario, scenario } from '../scenario.ts';
import { definition, definitions } from './custom-definitions.ts';

/** Which CEL rules a definition may contain. All but the last are dry runs. */

const group = 'rules.fidelity.io';

/** Rules on an object that has a field of every type. */
function ruled(...rules: readonly object[]): object {
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': rules,
        properties: {
          count: { type: 'integer' },
          share: { type: 'number' },
          name: { type: 'string', maxLength: 10 },
          text: { type: 'string' },
          on: { type: 'boolean' },
          when: { type: 'string', format: 'date-time' },
          either: { 'x-kubernetes-int-or-string': true },
          any: { 'x-kubernetes-preserve-unknown-fields': true },
          names: { type: 'array', items: { type: 'string' } },
          few: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 5 } },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          'odd-name': { type: 'string' },
        },
      },
    },
  };
}

/** Rules on the items of a list. */
function listed(listType: string | undefined, rule: object, more: object = {}): object {
  const items = {
    type: 'object',
    properties: { k: { type: 'string' }, n: { type: 'integer' } },
    required: ['k'],
    ...(listType === 'set' ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    'x-kubernetes-validations': [rule],
  };
  const merged = {
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(listType === 'map' ? { 'x-kubernetes-list-map-keys': ['k'] } : {}),
  };
  return { type: 'object', properties: { list: { type: 'array', items, ...merged, ...more } } };
}

function schemas(name: string, all: readonly object[]): Scenario {
  const steps = all.map((schema) => post(`${definitions}?dryRun=All`, definition({ group, schema })));
  return scenario(name, steps);
}

function rules(name: string, all: readonly object[]): Scenario {
  return schemas(
    name,
    all.map((rule) => ruled(rule)),
  );
}

const path = `${definitions}/widgets.${group}`;

export const definitionRuleScenarios: readonly Scenario[] = [
  rules('how rules are written', [
    { rule: 'self.count > 1' },
    { rule: '' },
    { rule: '  ' },
    { rule: 'self.count > 1', message: ' ' },
    { rule: 'self.count > 1', message: 'a\nb' },
    { rule: 'self.count > 1 &&\nself.on' },
    { rule: 'self.count > 1 &&\nself.on', message: 'both' },
    { rule: 'self.count > 1', messageExpression: ' ' },
    { rule: 'self.count > 1', messageExpression: '"count is " + string(self.count)' },
    { rule: 'self.count > 1', reason: 'FieldValueForbidden' },
    { rule: 'self.count > 1', reason: 'Because' },
    { rule: 'self.count > 1', fieldPath: '.count' },
    { rule: 'self.count > 1', fieldPath: '.nothing' },
    { rule: 'self.count > 1', fieldPath: ' ' },
    { rule: 'self.count > 1', fieldPath: '.co\nunt' },
    { rule: 'self.count > 1', fieldPath: ".labels['a']" },
    { rule: 'self.count > 1', fieldPath: '.names[0]' },
    { rule: 'self.count > 1', optionalOldSelf: true },
    { rule: 'oldSelf.orValue(self).count > 1', optionalOldSelf: true },
    { rule: 'oldSelf.count <= self.count' },
  ]),
  rules('rules that do not compile', [
    { rule: 'self.count >' },
    { rule: 'self.nothing == 1' },
    { rule: 'self.count' },
    { rule: 'self.count == "a"' },
    { rule: 'self.name + 1 == "a"' },
    { rule: 'other == 1' },
    { rule: 'self.nothing() == 1' },
    { rule: 'size(self.count) == 1' },
    { rule: "self.name.matches('(')" },
    { rule: 'self.any == 1' },
    { rule: 'self.odd-name == "a"' },
    { rule: 'self.odd__dash__name == "a"' },
    { rule: 'has(self.count) && has(self.nothing)' },
    { rule: 'self.few.all(x, x > 1)' },
    { rule: 'self.few.all(x, y > 1)' },
    { rule: 'self.on', messageExpression: 'self.count' },
    { rule: 'self.on', messageExpression: 'self.nothing' },
    { rule: 'self.on', messageExpression: '"a' },
    { rule: 'self.when > timestamp("2020-01-01T00:00:00Z")' },
    { rule: 'self.when == "x"' },
    { rule: 'type(self.either) == int ? self.either > 1 : self.either == "a"' },
    { rule: 'self.share > 1' },
    { rule: 'quantity("1Gi").isGreaterThan(quantity(self.text))' },
    { rule: "isURL(self.text) && url(self.text).getHost() == 'x'" },
  ]),
  rules('rules that cost too much', [
    { rule: 'self.few.all(x, self.few.exists_one(y, x == y))' },
    { rule: 'self.names.all(x, self.names.exists_one(y, x == y))' },
    { rule: 'self.names.all(x, x.startsWith("a"))' },
    { rule: 'self.text.contains(self.name)' },
    { rule: 'self.text.matches("a.*b")' },
    { rule: 'self.labels.all(k, self.labels[k].size() < 5)' },
    { rule: 'self.on', messageExpression: 'self.names.filter(x, self.names.exists(y, x == y)).join(",")' },
  ]),
  schemas('rules of lists and maps', [
    listed(undefined, { rule: 'self.n > 1' }),
    listed(undefined, { rule: 'self.n >= oldSelf.n' }),
    listed('set', { rule: 'self.n >= oldSelf.n' }),
    listed('map', { rule: 'self.n >= oldSelf.n' }),
    listed('atomic', { rule: 'self.n >= oldSelf.n' }, { maxItems: 5 }),
    listed('map', { rule: 'self.k.contains("a")' }),
    listed('map', { rule: 'self.k.contains("a")' }, { maxItems: 100 }),
    {
      type: 'object',
      properties: {
        m: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
        },
      },
    },
    {
      type: 'object',
      properties: {
        m: {
          type: 'object',
          additionalProperties: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
        },
      },
    },
    { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.metadata.name.size() < 5' }] },
    { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.metadata.labels.size() < 5' }] },
    {
      type: 'object',
      properties: {
        a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
      },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'string', allOf: [{ 'x-kubernetes-validations': [{ rule: 'self == "a"' }] }] },
      },
    },
    {
      type: 'object',
      properties: { a: { type: 'array', 'x-kubernetes-validations': [{ rule: 'self.nothing' }] } },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'string', default: 'b', 'x-kubernetes-validations': [{ rule: 'self == "a"' }] },
      },
    },
    {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          default: { n: 1 },
          properties: {
            n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'too small' }] },
          },
        },
      },
    },
  ]),
  scenario(
    'rules of a definition that is changed',
    post(definitions, definition({ group, schema: ruled({ rule: 'self.count > 1' }) }), { form: 'metadata' }),
    get(path, { until: 'InitialNamesAccepted', form: 'metadata' }),
    ...[{ rule: 'self.count > 2' }, { rule: 'self.count > "a"' }].map((rule) =>
      patch('merge', `${path}?dryRun=All`, definition({ group, schema: ruled(rule) })),
    ),
  ),
];
