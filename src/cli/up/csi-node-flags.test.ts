import { expect, test } from 'vitest';
import { csiNodeSettingsOf } from './csi-node-flags.ts';

const given = { dataDirectory: '/data', controllers: ['node-agent'] };

test('without the flag there are no node plugins', () => {
  expect(csiNodeSettingsOf({}, given)).toBeUndefined();
});

test('nodes and plugins may be repeated', () => {
  const csiNode = ['n1=unix:///a.sock', 'n2=unix:///a.sock', 'n1=unix:///b=c.sock'];
  expect(csiNodeSettingsOf({ csiNode }, given)).toEqual({
    root: '/data/kubelet',
    plugins: new Map([
      ['n1', ['unix:///a.sock', 'unix:///b=c.sock']],
      ['n2', ['unix:///a.sock']],
    ]),
  });
});

test.each([
  { value: 'n1', problem: '--csi-node: invalid value "n1"; it must be NODE=unix:///path/of/csi.sock' },
  {
    value: '=unix:///a',
    problem: '--csi-node: invalid value "=unix:///a"; it must be NODE=unix:///path/of/csi.sock',
  },
  { value: '../x=unix:///a', problem: 'invalid value' },
  {
    value: 'n1=tcp://a:1',
    problem: '--csi-node n1: invalid value "tcp://a:1": only unix sockets are supported',
  },
])('$value is refused', ({ value, problem }) => {
  expect(() => csiNodeSettingsOf({ csiNode: [value] }, given)).toThrow(problem);
});

test('without the controller the flag would do nothing', () => {
  const flags = { csiNode: ['n1=unix:///a.sock'] };
  expect(() => csiNodeSettingsOf(flags, { ...given, controllers: [] })).toThrow(
    'needs the controller node-agent',
  );
});
