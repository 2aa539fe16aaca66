import { expect, test } from 'vitest';
import { readPlanQuestion } from './plan-question.ts';

const read = (query: string) => readPlanQuestion(new URLSearchParams(query));

test('a question has one entry for each change', () => {
  expect(read('drain=node/a&drain=drive/b&replicas=sts/x/db=9&add-nodes=3&like=a&add-drive=a=2Ti')).toEqual({
    drain: ['node/a', 'drive/b'],
    replicas: ['sts/x/db=9'],
    addNodes: '3',
    like: 'a',
    addDrive: ['a=2Ti'],
  });
});

test.each([
  ['many changes', 'drain=node/a&'.repeat(51), '50 changes'],
  ['a long name', `drain=node/${'a'.repeat(300)}`, '300 characters in a change'],
  ['many nodes', 'add-nodes=501&like=a', '500 added nodes'],
  ['many replicas', 'replicas=sts/x/db=10001', '10000 replicas'],
])('%s would occupy the process, and are refused', (_, query, limit) => {
  expect(() => read(query)).toThrow(`the console plans at most ${limit}; use stowage plan for more`);
});
