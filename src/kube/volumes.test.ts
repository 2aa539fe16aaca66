import { describe, expect, test } from 'vitest';
import type {
  NodeSelectorTerm,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
} from './api/core.ts';
import { matchesNode } from './selectors/node-selector.ts';
import {
  canProvision,
  claimClassName,
  claimHasClass,
  ephemeralClaimName,
  isClaimRefTo,
  isDelayedBinding,
  isFullyBound,
  volumeClassName,
  volumeModeOf,
  volumeNodeSelector,
} from './volumes.ts';

const betaClass = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'gold' } };

describe('the class', () => {
  test.each<[string, PersistentVolume & PersistentVolumeClaim, string, boolean]>([
    ['is absent', {}, '', false],
    ['stands in the spec', { spec: { storageClassName: 'silver' } }, 'silver', true],
    ['stands in the beta annotation', { metadata: betaClass }, 'gold', true],
    ['of the annotation wins', { metadata: betaClass, spec: { storageClassName: 'silver' } }, 'gold', true],
    ['may be named as none', { spec: { storageClassName: '' } }, '', true],
    [
      'of an empty annotation wins, too',
      {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': '' } },
        spec: { storageClassName: 'a' },
      },
      '',
      true,
    ],
  ])('%s', (_name, object, name, hasClass) => {
    expect([claimClassName(object), volumeClassName(object)]).toEqual([name, name]);
    expect(claimHasClass(object)).toBe(hasClass);
  });
});

describe('a claim is fully bound', () => {
  const completed = { annotations: { 'pv.kubernetes.io/bind-completed': '' } };

  test.each<[string, PersistentVolumeClaim, boolean]>([
    [
      'with a volume and the annotation, whatever it says',
      { metadata: completed, spec: { volumeName: 'pv' } },
      true,
    ],
    ['but not without the annotation', { spec: { volumeName: 'pv' }, status: { phase: 'Bound' } }, false],
    ['but not without a volume', { metadata: completed }, false],
    ['but not with an empty volume name', { metadata: completed, spec: { volumeName: '' } }, false],
    [
      'whatever its phase',
      { metadata: completed, spec: { volumeName: 'pv' }, status: { phase: 'Pending' } },
      true,
    ],
  ])('%s', (_name, claim, expected) => {
    expect(isFullyBound(claim)).toBe(expected);
  });
});

describe('a claimRef means a claim', () => {
  const claim: PersistentVolumeClaim = { metadata: { namespace: 'shop', name: 'data', uid: 'uid-1' } };

  test.each<[string, ObjectReference | undefined | null, boolean]>([
    ['of the same name and uid', { namespace: 'shop', name: 'data', uid: 'uid-1' }, true],
    ['of the same name where it has no uid', { namespace: 'shop', name: 'data' }, true],
    ['of the same name where its uid is empty', { namespace: 'shop', name: 'data', uid: '' }, true],
    ['but not one with another uid', { namespace: 'shop', name: 'data', uid: 'uid-2' }, false],
    ['but not one of another name', { namespace: 'shop', name: 'logs', uid: 'uid-1' }, false],
    ['but not one of another namespace', { namespace: 'bank', name: 'data', uid: 'uid-1' }, false],
    ['but none where there is no claimRef', undefined, false],
    ['but none where it is null', null, false],
    ['but none where it is empty', {}, false],
  ])('%s', (_name, claimRef, expected) => {
    expect(isClaimRefTo(claimRef, claim)).toBe(expected);
  });

  test('but none that has no name', () => {
    expect(isClaimRefTo({}, {})).toBe(false);
  });
});

describe('a volume can be reached', () => {
  const labels = { zone: 'east', rack: 'a' };

  test.each<[string, PersistentVolume, boolean]>([
    ['from everywhere without an affinity', {}, true],
    ['from everywhere where nothing is required', { spec: { nodeAffinity: {} } }, true],
    ['from nowhere without terms', reachable(), false],
    ['from nowhere with empty terms', reachable({}, {}), false],
    [
      'from a node that one of the terms names',
      reachable(inValues('zone', 'west'), inValues('zone', 'east')),
      true,
    ],
    ['from a node that meets all expressions', reachable(inValues('zone', 'east', 'west')), true],
    ['but not with another value', reachable(inValues('zone', 'west')), false],
    ['but not with another key', reachable(inValues('row', 'east')), false],
  ])('%s', (_name, volume, expected) => {
    const selector = volumeNodeSelector(volume);
    expect(selector === undefined || matchesNode(selector, undefined, labels)).toBe(expected);
  });

  function reachable(...nodeSelectorTerms: readonly NodeSelectorTerm[]): PersistentVolume {
    return { spec: { nodeAffinity: { required: { nodeSelectorTerms } } } };
  }

  function inValues(key: string, ...values: readonly string[]): NodeSelectorTerm {
    return { matchExpressions: [{ key, operator: 'In', values }] };
  }
});

test.each([
  [{}, 'Filesystem'],
  [{ spec: { volumeMode: 'Filesystem' } }, 'Filesystem'],
  [{ spec: { volumeMode: 'Block' } }, 'Block'],
] as const)('the mode of %j is %s', (object, expected) => {
  expect(volumeModeOf(object)).toBe(expected);
});

test("an ephemeral volume's claim is named after the pod and the volume", () => {
  expect(ephemeralClaimName('web-0', 'cache')).toBe('web-0-cache');
});

test.each([
  [undefined, false],
  [{}, false],
  [{ volumeBindingMode: 'Immediate' }, false],
  [{ volumeBindingMode: 'WaitForFirstConsumer' }, true],
] as const)('a class of %j waits for a pod: %s', (storageClass, expected) => {
  expect(isDelayedBinding(storageClass)).toBe(expected);
});

test.each([
  [undefined, false],
  [{}, false],
  [{ provisioner: '' }, false],
  [{ provisioner: 'kubernetes.io/no-provisioner' }, false],
  [{ provisioner: 'csi.example.com' }, true],
])('a class of %j makes volumes: %s', (storageClass, expected) => {
  expect(canProvision(storageClass)).toBe(expected);
});
