import { describe, expect, test } from 'vitest';
import type { Reply } from './http-client.ts';
import { Mask } from './mask.ts';

function reply(body: unknown, headers: Reply['headers'] = {}): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, text };
}

function masked(...bodies: readonly unknown[]): readonly unknown[] {
  const mask = new Mask();
  return bodies.map((body, i) => mask.answer(reply(body), i, 'everything').body);
}

const uids = ['11111111-aaaa-4aaa-8aaa-111111111111', '22222222-aaaa-4aaa-8aaa-222222222222'] as const;

describe('the mask', () => {
  test('shows whether uids and resource versions stayed the same', () => {
    const pod = (uid: string, resourceVersion: string) => ({ metadata: { uid, resourceVersion } });
    expect(masked(pod(uids[0], '5'), pod(uids[0], '6'), pod(uids[1], '5'))).toEqual([
      { metadata: { uid: '<uid 0>', resourceVersion: '<rv 0>' } },
      { metadata: { uid: '<uid 0>', resourceVersion: '<rv 1>' } },
      { metadata: { uid: '<uid 2>', resourceVersion: '<rv 0>' } },
    ]);
  });

  test('finds uids and resource versions inside messages', () => {
    const message = `UID in precondition: ${uids[1]}, ResourceVersion in object meta: 77`;
    const [, second] = masked({ metadata: { uid: uids[0], resourceVersion: '77' } }, { message });
    expect(second).toEqual({
      message: 'UID in precondition: <uid 1>, ResourceVersion in object meta: <rv 0>',
    });
  });

  test('masks current times and keeps times that the scenario chose', () => {
    const now = new Date().toISOString();
    expect(masked({ now, chosen: '2020-01-01T00:00:00Z', renewed: `${now.slice(0, 19)}.123456Z` })).toEqual([
      { now: '<time.000>', chosen: '2020-01-01T00:00:00Z', renewed: '<time.000000>' },
    ]);
  });

  test('groups apply conflicts by manager, with fields in order', () => {
    const cause = (manager: string, field: string) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with "${manager}"`,
      field,
    });
    const causes = [cause('b', '.spec.x'), cause('a', '.spec.z'), cause('a', '.spec.y')];
    expect(masked({ kind: 'Status', details: { causes } })).toEqual([
      { kind: 'Status', details: { causes: [causes[1], causes[2], causes[0]] } },
    ]);
  });

  test('masks generated names everywhere', () => {
    const [first, second] = masked(
      { metadata: { generateName: 'web-', name: 'web-x7k2p' } },
      { message: 'pods "web-x7k2p" not found' },
    );
    expect(first).toEqual({ metadata: { generateName: 'web-', name: 'web-<5>' } });
    expect(second).toEqual({ message: 'pods "web-<5>" not found' });
  });

  test('masks the resource version of a list, but not those of its items', () => {
    const list = {
      kind: 'PodList',
      metadata: { resourceVersion: '9' },
      items: [{ metadata: { resourceVersion: '8' } }],
    };
    expect(masked(list)).toEqual([
      {
        kind: 'PodList',
        metadata: { resourceVersion: '0', listedAt: '<rv>' },
        items: [{ metadata: { resourceVersion: '<rv 0>' } }],
      },
    ]);
  });

  test('masks ages in tables, but not similar texts', () => {
    const columnDefinitions = [{ name: 'Name', description: 'd' }, { name: 'Age' }];
    const [table] = masked({ kind: 'Table', columnDefinitions, rows: [{ cells: ['5d', '5d'] }] });
    expect(table).toMatchObject({
      columnDefinitions: [{ name: 'Name' }, { name: 'Age' }],
      rows: [{ cells: ['5d', '<age>'] }],
    });
  });

  test('reads a watch line by line, without periodic bookmarks', () => {
    const lines = ['ADDED', 'BOOKMARK', 'DELETED']
      .map((type) => JSON.stringify({ type, object: {} }))
      .join('\n');
    expect(masked(`${lines}\n`)).toEqual([
      [
        { type: 'ADDED', object: {} },
        { type: 'DELETED', object: {} },
      ],
    ]);
  });

  test('removes diffs of Go structs from messages', () => {
    const message = 'spec is immutable\n@@ -1,2 +1,2 @@\n {\n- "A": 1\n+ "A": 2\n, and more';
    expect(masked({ message })).toEqual([{ message: 'spec is immutable\n<diff>, and more' }]);
  });

  test('keeps relevant headers, and splits warnings', () => {
    const warned = reply({}, { warning: '299 - "a, b", 299 - "c"', date: 'today', 'retry-after': '10' });
    expect(new Mask().answer(warned, 0, 'everything').headers).toEqual({
      warning: ['299 - "a, b"', '299 - "c"'],
      'retry-after': '10',
    });
  });
});
