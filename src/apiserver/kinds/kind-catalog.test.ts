import { describe, expect, test } from 'vitest';
import { builtInKindCatalog } from './built-in-kinds.ts';
import { KindCatalog } from './kind-catalog.ts';
import type { ServedKind } from './served-kind.ts';

const builtIn = builtInKindCatalog().all;

function defined(plural: string, kind: string, version = 'v1'): ServedKind {
  const [model] = builtIn;
  if (model === undefined) throw new Error('no kinds');
  return { ...model, group: 'example.com', version, plural, kind, definition: {} } as unknown as ServedKind;
}

describe('defined kinds', () => {
  test('are replaced by definition, without changing others', () => {
    const kinds = new KindCatalog(builtIn);
    const [apple, pear, plum] = [
      defined('apples', 'Apple'),
      defined('pears', 'Pear'),
      defined('plums', 'Plum'),
    ];
    kinds.replaceDefined(
      new Map([
        ['a', [apple]],
        ['b', [pear]],
      ]),
    );
    kinds.replaceDefined(new Map([['b', [plum]]]));
    expect(kinds.all).toEqual([...builtIn, apple, plum]);
    expect(kinds.byPlural('example.com/v1', 'apples')).toBe(apple);
    expect(kinds.byPlural('example.com/v1', 'pears')).toBeUndefined();
    expect(kinds.byKind('example.com/v1', 'Pear')).toBeUndefined();
    expect([apple, pear, plum].map((kind) => kinds.isRemoved(kind))).toEqual([false, true, false]);
    kinds.replaceDefined(
      new Map([
        ['a', []],
        ['b', []],
      ]),
    );
    expect(kinds.all).toEqual(builtIn);
  });

  test('may take over a name from another in one change, in any order', () => {
    const kinds = new KindCatalog(builtIn);
    kinds.replaceDefined(new Map([['a', [defined('apples', 'Fruit')]]]));
    const [renamed, successor] = [defined('apples', 'Apple'), defined('pears', 'Fruit')];
    kinds.replaceDefined(
      new Map([
        ['b', [successor]],
        ['a', [renamed]],
      ]),
    );
    expect(kinds.byKind('example.com/v1', 'Fruit')).toBe(successor);
    expect(kinds.byKind('example.com/v1', 'Apple')).toBe(renamed);
  });

  test('notify only their own removal listeners, once', () => {
    const kinds = new KindCatalog(builtIn);
    const [old, kept, other] = [
      defined('apples', 'Apple'),
      defined('apples', 'Apple', 'v2'),
      defined('pears', 'Pear'),
    ];
    kinds.replaceDefined(
      new Map([
        ['a', [old, kept]],
        ['b', [other]],
      ]),
    );
    const notified: string[] = [];
    for (const [name, kind] of [
      ['old', old],
      ['kept', kept],
      ['other', other],
    ] as const)
      kinds.onRemoved(kind, () => notified.push(name));
    const stop = kinds.onRemoved(old, () => notified.push('stopped'));
    stop();
    kinds.replaceDefined(new Map([['a', [kept]]]));
    kinds.replaceDefined(new Map([['a', []]]));
    expect(notified).toEqual(['old', 'kept']);
  });

  test('change the version, and do not count as built-in', () => {
    const kinds = new KindCatalog(builtIn);
    const before = kinds.version;
    kinds.replaceDefined(new Map([['a', [defined('apples', 'Apple')]]]));
    expect(kinds.version).not.toBe(before);
    expect([kinds.isBuiltIn('apps', 'statefulsets'), kinds.isBuiltIn('example.com', 'apples')]).toEqual([
      true,
      false,
    ]);
  });
});
