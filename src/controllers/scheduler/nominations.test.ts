import { expect, test } from 'vitest';
import { type PodRecord, readPod } from '../../engine/records/pod-record.ts';
import { Nominations } from './nominations.ts';

const key = 'default/web';

function pod(nominatedNodeName = '', { uid = 'u1', nodeName = '' } = {}): PodRecord {
  return readPod({
    metadata: { namespace: 'default', name: 'web', uid },
    spec: { nodeName, containers: [] },
    status: { nominatedNodeName },
  });
}

function nodesOf(nominations: Nominations): readonly string[] {
  return nominations.all.map(({ nominatedNode }) => nominatedNode);
}

test('a nomination that is not written yet survives an update of the pod', () => {
  const nominations = new Nominations();
  nominations.nominate(pod(), 'n1');
  expect(nominations.observe(key, pod())).toBeUndefined();
  expect(nodesOf(nominations)).toEqual(['n1']);
});

test('a nomination that replaces a written one survives an update too', () => {
  const nominations = new Nominations();
  nominations.observe(key, pod('n1'));
  nominations.nominate(pod('n1'), 'n2');
  expect(nominations.observe(key, pod('n1'))).toBeUndefined();
  expect(nodesOf(nominations)).toEqual(['n2']);
});

test('once a nomination is written, what is written counts', () => {
  const nominations = new Nominations();
  nominations.nominate(pod(), 'n1');
  nominations.observe(key, pod('n1'));
  expect(nominations.observe(key, pod())).toBe('n1');
  expect(nodesOf(nominations)).toEqual([]);
});

test('a nomination by another client replaces one that is not written yet', () => {
  const nominations = new Nominations();
  nominations.nominate(pod(), 'n1');
  expect(nominations.observe(key, pod('n2'))).toBe('n1');
  expect(nodesOf(nominations)).toEqual(['n2']);
  expect(nominations.observe(key, pod())).toBe('n2');
});

test('a nomination that is not written yet can be forgotten', () => {
  const nominations = new Nominations();
  nominations.nominate(pod('n1'), 'n2');
  expect(nominations.forgetUnwritten(key, pod('n1'))).toBe('n2');
  expect(nodesOf(nominations)).toEqual(['n1']);
});

test.each([
  { name: 'is gone', now: undefined },
  { name: 'has been re-created', now: pod('', { uid: 'u2' }) },
  { name: 'has another node', now: pod('', { nodeName: 'n2' }) },
])('a nomination that is not written yet ends when the pod $name', ({ now }) => {
  const nominations = new Nominations();
  nominations.nominate(pod(), 'n1');
  expect(nominations.observe(key, now)).toBe('n1');
  expect(nodesOf(nominations)).toEqual([]);
  nominations.observe(key, pod());
  expect(nodesOf(nominations)).toEqual([]);
});

test('a nomination that has ended does not count, although it is still written', () => {
  const nominations = new Nominations();
  nominations.observe(key, pod('n1'));
  nominations.unnominate(pod('n1'));
  expect(nodesOf(nominations)).toEqual([]);
  expect(nominations.observe(key, pod('n1'))).toBeUndefined();
  expect(nodesOf(nominations)).toEqual([]);
});

test.each([
  {
    name: 'the end is written, and the pod is nominated again',
    events: [pod(), pod('n1')],
    expected: ['n1'],
  },
  { name: 'another client nominates the pod elsewhere', events: [pod('n2')], expected: ['n2'] },
  { name: 'the pod is re-created', events: [pod('n1', { uid: 'u2' })], expected: ['n1'] },
  { name: 'the pod was gone for a moment', events: [undefined, pod('n1')], expected: ['n1'] },
])('after a nomination has ended, the written one counts: $name', ({ events, expected }) => {
  const nominations = new Nominations();
  nominations.observe(key, pod('n1'));
  nominations.unnominate(pod('n1'));
  for (const next of events) nominations.observe(key, next);
  expect(nodesOf(nominations)).toEqual(expected);
});

test('if the end of a nomination cannot be written, the nomination counts again', () => {
  const nominations = new Nominations();
  nominations.observe(key, pod('n1'));
  nominations.unnominate(pod('n1'));
  nominations.forgetUnwritten(key, pod('n1'));
  expect(nodesOf(nominations)).toEqual(['n1']);
});

test('after its nomination has ended, the pod can be nominated again', () => {
  const nominations = new Nominations();
  nominations.unnominate(pod('n1'));
  nominations.nominate(pod('n1'), 'n1');
  expect(nodesOf(nominations)).toEqual(['n1']);
});
