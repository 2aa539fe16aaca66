import { describe, expect, test } from 'vitest';
import type { TopologySelectorTerm } from '../api/core.ts';
import { matchesNode } from './node-selector.ts';
import { compileTopologySelector } from './topology-selector.ts';

const labels = { zone: 'east', rack: 'a' };

function allows(terms: unknown): boolean {
  const compiled = compileTopologySelector(terms as readonly TopologySelectorTerm[]);
  return compiled === undefined || matchesNode(compiled, 'node-1', labels);
}

describe('allowed topologies', () => {
  test.each<[string, unknown, boolean]>([
    ['absent: every node', undefined, true],
    ['null: every node', null, true],
    ['an empty list: every node', [], true],
    ['a term without expressions: no node', [{}], false],
    ['a term with no expressions in it: no node', [{ matchLabelExpressions: [] }], false],
    ['a listed value', [term(['zone', 'east'])], true],
    ['one of several values', [term(['zone', 'west', 'east'])], true],
    ['an unlisted value', [term(['zone', 'west'])], false],
    ['an absent label', [term(['row', '1'])], false],
    ['several terms: any is enough', [term(['zone', 'west']), term(['rack', 'a'])], true],
    ['several terms: none is not enough', [term(['zone', 'west']), term(['rack', 'b'])], false],
    ['several expressions: all hold', [term(['zone', 'east'], ['rack', 'a'])], true],
    ['several expressions: one fails', [term(['zone', 'east'], ['rack', 'b'])], false],
    ['a bad expression spoils its term', [term(['zone', 'east'], ['bad key', 'a'])], false],
    ['a bad expression spares the other terms', [term(['bad key', 'a']), term(['zone', 'east'])], true],
    ['an expression without values matches no node', [term(['zone'])], false],
    ['a term that is null: no node', [null], false],
    ['no list at all: no node', 'east', false],
  ])('%s', (_name, terms, expected) => {
    expect(allows(terms)).toBe(expected);
  });

  test('report the errors of a term', () => {
    expect(compileTopologySelector([term(['zone'])])?.problems).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].values: In compares with nothing; list at least one value',
    ]);
  });
});

function term(...expressions: readonly (readonly string[])[]): TopologySelectorTerm {
  return { matchLabelExpressions: expressions.map(([key = '', ...values]) => ({ key, values })) };
}
