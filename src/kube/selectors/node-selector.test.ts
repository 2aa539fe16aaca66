import { describe, expect, test } from 'vitest';
import type { NodeSelector, NodeSelectorTerm } from '../api/core.ts';
import type { StringMap } from '../api/meta.ts';
import { compileNodeSelector, compileTerm, matchesNode, matchesTerm } from './node-selector.ts';

const node = { name: 'node-1', labels: { zone: 'east', disks: '4', empty: '' } };

function matches(terms: readonly NodeSelectorTerm[], labels: StringMap = node.labels): boolean {
  return matchesNode(compileNodeSelector({ nodeSelectorTerms: terms }), node.name, labels);
}

describe('terms', () => {
  test.each<[string, readonly NodeSelectorTerm[], boolean]>([
    ['none of them match no node', [], false],
    ['an empty one matches no node', [{}], false],
    ['one with empty lists matches no node', [{ matchExpressions: [], matchFields: [] }], false],
    ['any one is enough', [labelled('zone', 'In', 'west'), labelled('zone', 'In', 'east')], true],
    ['none matching is not enough', [labelled('zone', 'In', 'west'), labelled('zone', 'In', 'north')], false],
    ['all expressions of one must hold', [both('zone', 'In', 'east', 'disks', 'In', '4')], true],
    ['one failing expression spoils a term', [both('zone', 'In', 'east', 'disks', 'In', '5')], false],
    ['the same key twice is asked twice', [both('zone', 'In', 'east', 'zone', 'In', 'west')], false],
  ])('%s', (_name, terms, expected) => {
    expect(matches(terms)).toBe(expected);
  });
});

describe('an expression', () => {
  test.each<[string, NodeSelectorTerm, boolean]>([
    ['In: a listed value', labelled('zone', 'In', 'west', 'east'), true],
    ['In: an absent label', labelled('rack', 'In', 'a'), false],
    ['NotIn: another value', labelled('zone', 'NotIn', 'west'), true],
    ['NotIn: a listed value', labelled('zone', 'NotIn', 'east'), false],
    ['NotIn: an absent label', labelled('rack', 'NotIn', 'a'), true],
    ['Exists: present though empty', labelled('empty', 'Exists'), true],
    ['Exists: absent', labelled('rack', 'Exists'), false],
    ['DoesNotExist: absent', labelled('rack', 'DoesNotExist'), true],
    ['DoesNotExist: present', labelled('zone', 'DoesNotExist'), false],
    ['In: the empty value', labelled('empty', 'In', ''), true],
    ['Gt: more', labelled('disks', 'Gt', '3'), true],
    ['Gt: as much', labelled('disks', 'Gt', '4'), false],
    ['Gt: leading zeros count for nothing', labelled('disks', 'Gt', '0003'), true],
    ['Lt: less', labelled('disks', 'Lt', '5'), true],
    ['Lt: as much', labelled('disks', 'Lt', '4'), false],
    ['Gt: an absent label', labelled('rack', 'Gt', '0'), false],
    ['Lt: an absent label', labelled('rack', 'Lt', '9'), false],
    ['Gt: a label that is not a number', labelled('zone', 'Gt', '0'), false],
  ])('%s', (_name, term, expected) => {
    expect(matches([term])).toBe(expected);
  });

  test.each([
    ['9223372036854775807', '9223372036854775806', true],
    ['9223372036854775808', '1', false],
    ['-1', '0', false],
  ])('a label of %s is greater than %s: %s', (label, bound, expected) => {
    expect(matches([labelled('disks', 'Gt', bound)], { disks: label })).toBe(expected);
  });
});

describe('matchFields', () => {
  test.each<[string, NodeSelectorTerm, boolean]>([
    ['In: this node', named('In', 'node-1'), true],
    ['In: another node', named('In', 'node-2'), false],
    ['NotIn: another node', named('NotIn', 'node-2'), true],
    ['NotIn: this node', named('NotIn', 'node-1'), false],
    ['must hold beside labels', { ...labelled('zone', 'In', 'east'), ...named('In', 'node-2') }, false],
    ['hold beside labels', { ...labelled('zone', 'In', 'east'), ...named('In', 'node-1') }, true],
    ['do not help where labels fail', { ...labelled('zone', 'In', 'west'), ...named('In', 'node-1') }, false],
    ['In with an unknown field: never', field('metadata.namespace', 'In', 'a'), false],
    ['NotIn with an unknown field: always', field('metadata.namespace', 'NotIn', 'a'), true],
  ])('%s', (_name, term, expected) => {
    expect(matches([term])).toBe(expected);
  });

  test.each([undefined, ''])(
    'are ignored on a node with the name %j, as where Kubernetes checks a volume',
    (name) => {
      const fieldsOnly = compileNodeSelector({ nodeSelectorTerms: [named('In', 'node-2')] });
      expect(matchesNode(fieldsOnly, name, {})).toBe(true);
      const labelsToo = { ...labelled('zone', 'In', 'west'), ...named('In', 'node-1') };
      expect(matchesNode(compileNodeSelector({ nodeSelectorTerms: [labelsToo] }), name, node.labels)).toBe(
        false,
      );
    },
  );
});

describe('a bad term', () => {
  const bad = labelled('zone', 'In');

  test('matches nothing and reports why', () => {
    const compiled = compileNodeSelector({ nodeSelectorTerms: [bad] }, 'spec.nodeAffinity.required');
    expect(compiled).toEqual({
      terms: [],
      problems: [
        'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: ' +
          'In compares with nothing; list at least one value',
      ],
    });
  });

  test('leaves the other terms their meaning', () => {
    expect(matches([bad, labelled('zone', 'In', 'east')])).toBe(true);
    expect(matches([labelled('zone', 'In', 'east'), bad])).toBe(true);
  });

  test('reports all of its errors', () => {
    const terms = [{ ...both('bad key', 'In', 'a', 'b', 'Like', 'c'), ...named('Exists') }];
    expect(compileNodeSelector({ nodeSelectorTerms: terms }).problems).toHaveLength(3);
  });

  test.each<[string, unknown, string]>([
    ['Exists with values', labelled('a', 'Exists', 'b'), 'Exists takes no values'],
    ['Gt without a value', labelled('a', 'Gt'), 'Gt compares with one whole number'],
    ['Gt with two values', labelled('a', 'Gt', '1', '2'), 'Gt compares with one whole number'],
    ['Lt with a word', labelled('a', 'Lt', 'many'), 'Lt compares with one whole number'],
    ['Gt with a number that no label can have', labelled('a', 'Gt', '-1'), '"-1" is not a label value'],
    ['Gt beyond 64 bits', labelled('a', 'Gt', '9223372036854775808'), 'Gt compares with one whole number'],
    ['a value of 64 characters', labelled('a', 'In', 'a'.repeat(64)), 'is not a label value'],
    ['an unknown operator', labelled('a', 'Like', 'b'), 'operator: "Like" is unknown'],
    ['an unknown operator on a field', named('Exists'), 'operator: is unknown for fields'],
    ['two names', named('In', 'a', 'b'), 'list exactly one'],
    ['expressions that are not a list', { matchExpressions: 7 }, 'matchExpressions: is not a list'],
    ['an expression that is null', { matchExpressions: [null] }, 'is not an expression'],
  ])('%s', (_name, term, problem) => {
    const compiled = compileNodeSelector({ nodeSelectorTerms: [term] } as NodeSelector);
    expect(compiled.terms).toEqual([]);
    expect(compiled.problems.join()).toContain(problem);
  });
});

describe('the compiled form', () => {
  test('can be indexed by its keys, values and names', () => {
    const term = { ...both('zone', 'In', 'east', 'disks', 'Gt', '3'), ...named('NotIn', 'node-2') };
    expect(compileNodeSelector({ nodeSelectorTerms: [term] }).terms).toEqual([
      {
        requirements: [
          { key: 'zone', operator: 'In', values: new Set(['east']), bound: undefined },
          { key: 'disks', operator: 'Gt', values: new Set(), bound: 3n },
        ],
        names: [{ operator: 'NotIn', value: 'node-2' }],
      },
    ]);
  });

  test.each([
    ['a missing selector', undefined],
    ['null', null],
    ['no list', {}],
    ['a term that is null', { nodeSelectorTerms: [null] }],
  ])('matches nothing and reports nothing for %s', (_name, selector) => {
    expect(compileNodeSelector(selector as NodeSelector)).toEqual({ terms: [], problems: [] });
  });

  test('reports terms that are not a list', () => {
    const compiled = compileNodeSelector(
      { nodeSelectorTerms: 'all' } as unknown as NodeSelector,
      'nodeTopology',
    );
    expect(compiled.problems).toEqual([
      'nodeTopology.nodeSelectorTerms: is not a list; write a list of terms',
    ]);
  });

  test('of a single term, such as a preference, is undefined where the term is empty or bad', () => {
    const problems: string[] = [];
    expect(compileTerm({}, 'preference', problems)).toBeUndefined();
    expect(problems).toEqual([]);
    expect(compileTerm(labelled('a', 'In'), 'preference', problems)).toBeUndefined();
    expect(problems).toHaveLength(1);
  });

  test('of a single term can be matched alone', () => {
    const term = compileTerm(labelled('zone', 'In', 'east'), 'preference', []);
    expect(term !== undefined && matchesTerm(term, node.name, node.labels)).toBe(true);
    expect(term !== undefined && matchesTerm(term, node.name, {})).toBe(false);
  });
});

function labelled(key: string, operator: string, ...values: readonly string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key, operator, values }] } as NodeSelectorTerm;
}

function both(...[key, operator, value, key2, operator2, value2]: readonly string[]): NodeSelectorTerm {
  const expressions = [
    { key, operator, values: [value] },
    { key: key2, operator: operator2, values: [value2] },
  ];
  return { matchExpressions: expressions } as NodeSelectorTerm;
}

function named(operator: string, ...values: readonly string[]): NodeSelectorTerm {
  return field('metadata.name', operator, ...values);
}

function field(key: string, operator: string, ...values: readonly string[]): NodeSelectorTerm {
  return { matchFields: [{ key, operator, values }] } as NodeSelectorTerm;
}
