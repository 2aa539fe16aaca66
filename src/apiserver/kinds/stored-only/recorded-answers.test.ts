import { expect, test } from 'vitest';
import { answerOf, readRecorded, replay } from '../workloads/testing/recorded.ts';
import { findKind } from '../workloads/testing/tables.ts';
import { storedOnlyKinds } from './index.ts';

const writes = readRecorded(new URL('./testing/resource.ndjson', import.meta.url));

test.each(writes.map((write) => [`${write.does} ${write.object.kind}: ${write.name}`, write] as const))(
  'a real server answered the same: %s',
  (_name, write) => {
    const kind = findKind(storedOnlyKinds, write.object);
    expect(replay(kind, write)).toEqual(answerOf(kind, write));
  },
);
