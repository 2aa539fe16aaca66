import { describe, expect, test } from 'vitest';
import { answerOf, recordedWrites, replay } from './testing/recorded.ts';

/** Where we knowingly differ. */
const differences: Readonly<Record<string, string>> = {
  'AppArmor by annotation':
    'the advice is due before the field is filled in, when kinds are not asked for any',
};

describe.each(['./pods.ndjson', './others.ndjson'])('what a real server answered (%s)', (file) => {
  const writes = recordedWrites(file);

  test.each(writes.filter(({ name }) => !(name in differences)))('to $does: $name', (write) => {
    expect(replay(write)).toEqual(answerOf(write));
  });
});

test('the recordings hold the differences that we know of', () => {
  const writes = recordedWrites('./pods.ndjson').filter(({ name }) => name in differences);
  expect(writes.map(({ name }) => name).sort()).toEqual(Object.keys(differences).sort());
  for (const write of writes) expect(replay(write)).not.toEqual(answerOf(write));
});
