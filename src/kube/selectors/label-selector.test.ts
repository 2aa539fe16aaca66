import { describe, expect, test } from 'vitest';
import type { LabelSelector, StringMap } from '../api/meta.ts';
import { compileLabelSelector, matchesLabels } from './label-selector.ts';

function matches(selector: LabelSelector | undefined, labels: StringMap | undefined): boolean {
  const result = compileLabelSelector(selector, 'spec.selector');
  if (!result.ok) throw new Error(result.problem);
  return matchesLabels(result.selector, labels);
}

function problemOf(selector: unknown): string {
  const result = compileLabelSelector(selector as LabelSelector, 'spec.selector');
  return result.ok ? 'none' : result.problem;
}

const blueInEast = { colour: 'blue', zone: 'east', empty: '' };

describe('a label selector', () => {
  test.each<[string, LabelSelector, boolean]>([
    ['that is empty matches everything', {}, true],
    ['with empty parts matches everything', { matchLabels: {}, matchExpressions: [] }, true],
    ['matches equal labels', { matchLabels: { colour: 'blue', zone: 'east' } }, true],
    ['wants all labels to be equal', { matchLabels: { colour: 'blue', zone: 'west' } }, false],
    ['wants the label to be there', { matchLabels: { size: 'big' } }, false],
    ['tells an empty value from an absent label', { matchLabels: { absent: '' } }, false],
    ['matches an empty value', { matchLabels: { empty: '' } }, true],
    ['matches a listed value', expression('zone', 'In', ['west', 'east']), true],
    ['does not match an unlisted value', expression('zone', 'In', ['west']), false],
    ['does not match an absent label with In', expression('size', 'In', ['big']), false],
    ['matches an unlisted value with NotIn', expression('zone', 'NotIn', ['west']), true],
    ['matches an absent label with NotIn', expression('size', 'NotIn', ['big']), true],
    ['does not match a listed value with NotIn', expression('zone', 'NotIn', ['east']), false],
    ['matches a present label with Exists', expression('empty', 'Exists'), true],
    ['does not match an absent label with Exists', expression('size', 'Exists'), false],
    ['matches an absent label with DoesNotExist', expression('size', 'DoesNotExist'), true],
    ['does not match a present label with DoesNotExist', expression('empty', 'DoesNotExist'), false],
    [
      'wants labels and expressions to hold',
      { matchLabels: { colour: 'blue' }, ...expression('zone', 'In', ['west']) },
      false,
    ],
  ])('%s', (_name, selector, expected) => {
    expect(matches(selector, blueInEast)).toBe(expected);
  });

  test('matches nothing on an object without labels, unless it asks for absence', () => {
    expect(matches({ matchLabels: { colour: 'blue' } }, undefined)).toBe(false);
    expect(matches(expression('colour', 'DoesNotExist'), undefined)).toBe(true);
  });

  test('ignores names that every object inherits', () => {
    expect(matches(expression('constructor', 'Exists'), {})).toBe(false);
    expect(matches(expression('toString', 'DoesNotExist'), {})).toBe(true);
    expect(matches({ matchLabels: { constructor: 'a' } }, { constructor: 'a' })).toBe(true);
  });
});

describe('an absent label selector', () => {
  test.each([
    ['everything', true],
    ['nothing', false],
  ] as const)('matches %s where the caller says so', (absent, expected) => {
    const result = compileLabelSelector(undefined, 'spec.selector', absent);
    expect(result.ok && matchesLabels(result.selector, blueInEast)).toBe(expected);
  });

  test('matches nothing by default, as in Kubernetes', () => {
    expect(matches(undefined, blueInEast)).toBe(false);
  });
});

describe('a bad selector is refused as a whole:', () => {
  test.each<[string, unknown, string]>([
    [
      'a key with a blank',
      { matchLabels: { 'a b': 'c' } },
      'spec.selector.matchLabels.key: "a b" is not a label key',
    ],
    [
      'a label called __proto__',
      JSON.parse('{"matchLabels":{"__proto__":"a"}}'),
      '"__proto__" is not a label key',
    ],
    ['a value with a slash', { matchLabels: { a: 'b/c' } }, '"b/c" is not a label value'],
    ['a value that is a number', { matchLabels: { a: 7 } }, 'number is not a label value'],
    ['In without values', expression('a', 'In', []), 'matchExpressions[0].values: In compares with nothing'],
    ['Exists with values', expression('a', 'Exists', ['b']), 'Exists takes no values'],
    [
      'an operator of node selectors',
      expression('a', 'Gt', ['1']),
      'operator: "Gt" is unknown; use In, NotIn, Exists',
    ],
    ['no operator', { matchExpressions: [{ key: 'a' }] }, 'operator: undefined is unknown'],
    ['an expression that is null', { matchExpressions: [null] }, 'matchExpressions[0]: is not an expression'],
    [
      'values that are text',
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] },
      'values: is not a list',
    ],
    [
      'expressions that are not a list',
      { matchExpressions: {} },
      'spec.selector.matchExpressions: is not a list',
    ],
    ['labels that are a list', { matchLabels: ['a'] }, 'spec.selector.matchLabels: is not a map'],
    ['text', 'zone=east', 'spec.selector: is not a selector'],
  ])('%s', (_name, selector, problem) => {
    expect(problemOf(selector)).toContain(problem);
  });
});

function expression(key: string, operator: string, values?: readonly string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, ...(values && { values }) }] } as LabelSelector;
}
