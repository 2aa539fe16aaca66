import { describe, expect, test } from 'vitest';
import type { Service } from '../../../kube/api/core-v1.ts';
import { type Admission, answerOf, readRecorded, replay } from '../workloads/testing/recorded.ts';
import { findKind } from '../workloads/testing/tables.ts';
import { clusterKinds } from './index.ts';
import { allocateService } from './service-allocation.ts';

const admit: Admission = (object, errors) => {
  if (object.kind === 'Service') allocateService(object as Service, [], errors);
};

describe.each(['cluster', 'events', 'services'])('a real server answered the same: %s', (file) => {
  const writes = readRecorded(new URL(`./testing/${file}.ndjson`, import.meta.url));
  test.each(writes.map((write) => [`${write.does} ${write.object.kind}: ${write.name}`, write] as const))(
    '%s',
    (_name, write) => {
      const kind = findKind(clusterKinds, write.object);
      expect(replay(kind, write, admit)).toEqual(answerOf(kind, write));
    },
  );
});
