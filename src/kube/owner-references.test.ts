import { describe, expect, test } from 'vitest';
import type { KubeObject, OwnerReference } from './api/meta.ts';
import { controllerOf, isControlledBy } from './owner-references.ts';

const pod: KubeObject = { metadata: { name: 'web-0', namespace: 'shop', uid: 'uid-1' } };

function ownedBy(...ownerReferences: readonly OwnerReference[]): KubeObject {
  return { metadata: { name: 'data', namespace: 'shop', ownerReferences } };
}

describe('an object is controlled', () => {
  test.each<[string, KubeObject, boolean]>([
    ['by its controller', ownedBy({ name: 'web-0', uid: 'uid-1', controller: true }), true],
    [
      'by a controller that is not its first owner',
      ownedBy({ uid: 'x' }, { uid: 'uid-1', controller: true }),
      true,
    ],
    ['not by an owner that is not a controller', ownedBy({ name: 'web-0', uid: 'uid-1' }), false],
    ['not by a namesake with another uid', ownedBy({ name: 'web-0', uid: 'uid-2', controller: true }), false],
    ['not by anybody where it has no owners', { metadata: { name: 'data' } }, false],
    ['not by anybody where it has no metadata', {}, false],
  ])('%s', (_name, object, expected) => {
    expect(isControlledBy(object, pod)).toBe(expected);
  });

  test('by no owner without a uid', () => {
    expect(
      isControlledBy(ownedBy({ name: 'web-0', controller: true }), { metadata: { name: 'web-0' } }),
    ).toBe(false);
    expect(isControlledBy(ownedBy({ uid: '', controller: true }), { metadata: { uid: '' } })).toBe(false);
  });
});

test('the controller is the owner that says so, among entries of any kind', () => {
  const references = [
    null,
    7,
    { uid: 'a' },
    { uid: 'b', controller: true },
  ] as unknown as readonly OwnerReference[];
  expect(controllerOf(ownedBy(...references))?.uid).toBe('b');
});
