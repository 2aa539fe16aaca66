import { describe, expect, test } from 'vitest';
import type { Kind } from '../kind.ts';
import { workloadKinds } from './index.ts';
import { answerOf, readRecorded, replay, type RecordedWrite } from './testing/recorded.ts';

function kindOf({ object }: RecordedWrite): Kind {
  const found = workloadKinds.find(({ kind }) => kind === object.kind);
  if (!found) throw new Error(`no kind ${object.kind}`);
  return found;
}

describe.each(['apps', 'batch'])('a real server answered the same: %s', (file) => {
  const writes = readRecorded(new URL(`./testing/${file}.ndjson`, import.meta.url));
  test.each(writes.map((write) => [`${write.does} ${write.object.kind}: ${write.name}`, write] as const))(
    '%s',
    (_name, write) => {
      const kind = kindOf(write);
      expect(replay(kind, write)).toEqual(answerOf(kind, write));
    },
  );
});
