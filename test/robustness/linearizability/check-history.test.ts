import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import type { Operation, WatchStream } from './history.ts';
import {
  bookmark,
  create,
  event,
  found,
  get,
  item,
  notFound,
  operation,
  remove,
  unknown,
  update,
  watch,
  written,
} from './testing/history-builder.ts';

interface Case {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly watches?: readonly WatchStream[];
}

const created = operation('c1', [0, 1], create('a', 'v1'), written(2));
const updated = operation('c1', [2, 3], update('a', 'v2', 2), written(3));
const removed = operation('c1', [4, 5], remove('a'), written());
const forever = Number.POSITIVE_INFINITY;

const good: readonly Case[] = [
  { name: 'writes one after the other', operations: [created, updated, removed] },
  {
    name: 'a read beside a write sees the state before or after it',
    operations: [
      created,
      operation('c1', [2, 9], update('a', 'v2', 2), written(3)),
      operation('c2', [3, 4], get('a'), found('v2', 3)),
      operation('c3', [3, 5], get('a'), found('v1', 2)),
    ],
  },
  {
    name: 'one of two concurrent updates of one version conflicts',
    operations: [
      created,
      operation('c1', [2, 9], update('a', 'v2', 2), written(3)),
      operation('c2', [3, 8], update('a', 'v3', 2), { type: 'conflict' }),
    ],
  },
  {
    name: 'a write without an answer that never happened',
    operations: [
      created,
      operation('c2', [2, forever], update('a', 'v2'), unknown),
      operation('c1', [5, 6], get('a'), found('v1', 2)),
    ],
  },
  {
    name: 'a write without an answer that happened long after it was sent',
    operations: [
      created,
      operation('c2', [2, forever], update('a', 'v2'), unknown),
      operation('c1', [5, 6], get('a'), found('v1', 2)),
      operation('c1', [7, 8], get('a'), found('v2', 3)),
    ],
  },
  {
    name: 'a deletion without an answer, before the object is created again',
    operations: [
      created,
      operation('c2', [2, forever], remove('a'), unknown),
      operation('c1', [5, 6], create('a', 'v2'), written(4)),
    ],
  },
  {
    name: 'a list at any version may be old',
    operations: [
      created,
      updated,
      operation('c2', [8, 9], { verb: 'list', at: 'any' }, listed(2, item('a', 'v1', 2))),
    ],
  },
  {
    name: 'a watcher that receives every change, and a bookmark',
    operations: [created, updated, removed],
    watches: [
      watch([
        event('ADDED', 'a', 'v1', 2),
        event('MODIFIED', 'a', 'v2', 3),
        bookmark(3),
        event('DELETED', 'a', 'v2', 4),
        bookmark(9),
      ]),
    ],
  },
  {
    name: 'a watcher that has not received the newest change yet',
    operations: [created, updated],
    watches: [watch([event('ADDED', 'a', 'v1', 2)])],
  },
];

test.each(good)('accepted: $name', ({ operations, watches = [] }) => {
  expect(checkHistory({ operations, watches })).toEqual([]);
});

function listed(version: number, ...items: ReturnType<typeof item>[]) {
  return { type: 'listed', version, items } as const;
}

const bad: readonly (Case & { readonly message: string })[] = [
  {
    name: 'a stale read',
    operations: [created, updated, operation('c2', [4, 5], get('a'), found('v1', 2))],
    message: [
      'object a is not linearizable; after',
      '  c1 create a with v1: version 2 [0.0 to 1.0 ms]',
      '  c1 update a (of version 2) to v2: version 3 [2.0 to 3.0 ms]',
      'it is v2 of version 3, and then',
      '  c2 get a: v1 of version 2 [4.0 to 5.0 ms] is impossible: the object has v2 of version 3',
    ].join('\n'),
  },
  {
    name: 'a stale list',
    operations: [created, updated, operation('c2', [4, 5], { verb: 'list' }, listed(2, item('a', 'v1', 2)))],
    message: 'c2 list: 1 items at version 2 [4.0 to 5.0 ms] is older than what was answered before it began',
  },
  {
    name: 'a lost update',
    operations: [created, updated, operation('c2', [4, 5], update('a', 'v3', 2), written(4))],
    message:
      'c2 update a (of version 2) to v3: version 4 [4.0 to 5.0 ms] is impossible: the object has v2 of version 3',
  },
  {
    name: 'two concurrent updates of one version',
    operations: [
      created,
      operation('c1', [2, 9], update('a', 'v2', 2), written(3)),
      operation('c2', [3, 8], update('a', 'v3', 2), written(4)),
    ],
    message: 'c1 update a (of version 2) to v2: version 3 [2.0 to 9.0 ms] is impossible: the object has v3',
  },
  {
    name: 'a deleted object that exists again',
    operations: [created, updated, removed, operation('c2', [6, 7], get('a'), found('v2', 3))],
    message: 'c2 get a: v2 of version 3 [6.0 to 7.0 ms] is impossible: the object does not exist',
  },
  {
    name: 'a duplicate creation',
    operations: [created, operation('c2', [2, 3], create('a', 'v2'), written(3))],
    message: 'c2 create a with v2: version 3 [2.0 to 3.0 ms] is impossible: the object has v1 of version 2',
  },
  {
    name: 'a conflict without a reason',
    operations: [created, operation('c2', [2, 3], update('a', 'v2', 2), { type: 'conflict' })],
    message:
      'c2 update a (of version 2) to v2: conflict [2.0 to 3.0 ms] is impossible: the object has that version',
  },
  {
    name: 'a refusal because of an object that never existed',
    operations: [
      operation('c1', [0, 1], create('a', 'v1'), { type: 'already exists' }),
      operation('c2', [2, 3], get('a'), notFound),
    ],
    message: 'c1 create a with v1: already exists [0.0 to 1.0 ms] is impossible: the object does not exist',
  },
  {
    name: 'an acknowledged write that is lost after a restart',
    operations: [created, updated, operation('after-restart', [90, 91], get('a'), notFound)],
    message: 'after-restart get a: not found [90.0 to 91.0 ms] is impossible: the object has v2 of version 3',
  },
  {
    name: 'a write of a killed server that happens after its end',
    operations: [
      created,
      operation('c2', [2, 5], update('a', 'v2'), unknown),
      operation('c1', [6, 7], get('a'), found('v1', 2)),
      operation('c1', [8, 9], get('a'), found('v2', 3)),
    ],
    message: 'object a is not linearizable',
  },
  {
    name: 'a write that happened though the server refused it',
    operations: [
      created,
      operation('c1', [2, 3], update('a', 'v2'), { type: 'refused' }),
      operation('c1', [4, 5], get('a'), found('v2', 3)),
    ],
    message:
      'a change that did not happen: c1 get a: v2 of version 3 [4.0 to 5.0 ms]; c1 update a to v2: refused',
  },
  {
    name: 'one version for two writes',
    operations: [created, operation('c2', [2, 3], create('b', 'v2'), written(2))],
    message: 'two writes have version 2: c2 create b with v2: version 2',
  },
  {
    name: 'a version that does not increase across objects',
    operations: [
      operation('c1', [0, 1], create('a', 'v1'), written(9)),
      operation('c2', [2, 3], create('b', 'v2'), written(8)),
    ],
    message:
      'c2 create b with v2: version 8 [2.0 to 3.0 ms] is older than what was answered before it began: c1 create a',
  },
];

describe('watches', () => {
  const operations = [created, updated, removed];
  const added = event('ADDED', 'a', 'v1', 2);
  const modified = event('MODIFIED', 'a', 'v2', 3);
  const deleted = event('DELETED', 'a', 'v2', 4);
  test.each([
    {
      name: 'a skipped event',
      events: [added, deleted],
      message: 'watcher knows of version 4, but did not receive: c1 update a (of version 2) to v2: version 3',
    },
    {
      name: 'a skipped deletion before a list',
      events: [added, modified, bookmark(5)],
      message: 'list: 0 items at version 5 [8.0 to 9.0 ms] has no objects, but watcher then had a=v2',
    },
    {
      name: 'a bookmark ahead of an event',
      events: [added, bookmark(3), modified],
      message: 'watcher received MODIFIED a with v2 at version 3 after BOOKMARK 3',
    },
    {
      name: 'a bookmark ahead of an event that never comes',
      events: [added, bookmark(3)],
      message: 'watcher knows of version 3, but did not receive: c1 update a',
    },
    {
      name: 'an event twice',
      events: [added, modified, modified],
      message: 'watcher received MODIFIED a with v2 at version 3 after MODIFIED a with v2 at version 3',
    },
    {
      name: 'events in the wrong order',
      events: [modified, added],
      message: 'watcher received ADDED a with v1 at version 2 after MODIFIED a',
    },
    {
      name: 'an event for a write that no client made',
      events: [added, event('MODIFIED', 'a', 'v9', 3)],
      message: 'a change that did not happen: watcher: MODIFIED a with v9 at version 3; no client wrote that',
    },
  ])('caught: $name', ({ events, message }) => {
    const list = operation('c9', [8, 9], { verb: 'list' }, listed(5));
    const problems = checkHistory({ operations: [...operations, list], watches: [watch(events)] });
    expect(problems.join('\n')).toContain(message);
  });
});

test.each(bad)('caught: $name', ({ operations, watches = [], message }) => {
  expect(checkHistory({ operations, watches }).join('\n')).toContain(message);
});
