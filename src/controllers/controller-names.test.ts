import { expect, test } from 'vitest';
import { controllerNames, selectControllers } from './controller-names.ts';

test.each([
  ['*', controllerNames],
  ['none', []],
  ['namespace', ['namespace']],
  ['namespace, protection', ['protection', 'namespace']],
  ['*,-namespace', controllerNames.filter((name) => name !== 'namespace')],
  ['-namespace', controllerNames.filter((name) => name !== 'namespace')],
])('--controllers %j', (list, names) => {
  expect(selectControllers(list)).toEqual({ ok: true, names });
});

test.each(['nonsense', '-nonsense', 'none,namespace', 'Namespace', '', ' , '])(
  '--controllers %j is refused',
  (list) => {
    const selected = selectControllers(list);
    expect(selected.ok ? '' : selected.problem).toMatch(/^(?!--).*; /);
  },
);
