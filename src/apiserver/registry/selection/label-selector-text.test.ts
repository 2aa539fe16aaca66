import { expect, test } from 'vitest';
import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { parseLabelSelector } from './label-selector-text.ts';

const labels = { app: 'web', tier: 'front', size: '5', in: 'x' };

test.each([
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app=db', false],
  ['app!=db', true],
  ['absent!=x', true],
  ['app in (web, db)', true],
  ['app notin (web)', false],
  ['absent notin (x)', true],
  ['app in ()', false],
  ['app', true],
  ['!app', false],
  ['!absent', true],
  ['size>4', true],
  ['size>5', false],
  ['size<6', true],
  ['in in (x)', true],
  ['app=web,tier=front', true],
  ['app=web,tier=back', false],
  [' app = web , tier ', true],
])('%j matches: %s', (text, expected) => {
  expect(matchesLabels(parseLabelSelector(text), labels)).toBe(expected);
});

// The responses of kube-apiserver 1.36.3.
test.each([
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  [
    'a>b',
    "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
])('%j is refused', (text, message) => {
  expect(() => parseLabelSelector(text)).toThrow(message);
});
