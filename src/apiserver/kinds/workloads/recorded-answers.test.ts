import { describe, expect, test } from 'vitest';
import { workloadKinds } from './index.ts';
import { answerOf, readRecorded, replay } from './testing/recorded.ts';
import { findKind } from './testing/tables.ts';

describe.each(['apps', 'batch'])('a real server answered the same: %s', (file) => {
  const writes = readRecorded(new URL(`./testing/${file}.ndjson`, import.meta.url));
  test.each(writes.map((write) => [`${write.does} ${write.object.kind}: ${write.name}`, write] as const))(
    '%s',
    (_name, write) => {
      const kind = findKind(workloadKinds, write.object);
      expect(replay(kind, write)).toEqual(answerOf(kind, write));
    },
  );
});
